"""The query that says which runs are listed, and in which order.

    query    = all { ("or" | "|") all }
    all      = term { ["and"] term }
    term     = ("not" | "-" | "!") term | "(" query ")" | clause | word
    clause   = field op value | ("has:" | "exists:") field | "sort:" ["-"] field { "," ["-"] field }
    op       = ":"  "="  "!="  ">"  ">="  "<"  "<="

The fields stand in `run_query_fields.FIELDS`, words and quotes in `run_query_words`, moments and spans in
`run_query_values`. A bare word is looked for in key, name, id, project, notes and tags.

`:` filters texts in the mode of the text filter and takes the rest for equal. `=` and `!=` compare texts without case,
numbers by value; `!=` is the opposite of `=`, so it holds where there is no value. The other four compare numbers and
are false for everything else. `created>2025-03-01` is after that day, `created>=2025-03-01` from that day on,
`created>2d` less than two days ago, `created<2d` longer ago, `created:today` on that day. `sort:` is for the whole
list: `sort:-created` is the newest first, `sort:summary.loss` the smallest first, and runs without a value come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from leet.model.filter import Mode
from leet.model.run_entry import RunEntry
from leet.model.run_query_fields import OPERATORS, Order, Test, anywhere, compare, field_of, has, order_by
from leet.model.run_query_words import QueryError, Word, words_of

__all__ = ["QueryError", "RunQuery"]

_HAS = ("has", "exists")
_SORT = ("sort", "order")
_DEEPEST = 50


class RunQuery:
    """A query typed by a person; an empty one matches all, newest first.

    One with an `error` matches nothing: callers keep what they showed before.
    """

    def __init__(self, text: str = "", mode: Mode = "regex") -> None:
        self.text = text
        self.mode: Mode = mode
        self.error: QueryError | None = None
        self._test: Test | None = None
        self._orders: Sequence[tuple[Order, bool]] = ()
        try:
            parser = _Parser(words_of(text), mode)
            self._test = parser.query()
            self._orders = parser.orders
        except QueryError as error:
            self.error = error

    @classmethod
    def parse(cls, text: str, mode: Mode = "regex") -> RunQuery:
        """The query; raises nothing: look at its `error`."""
        return cls(text, mode)

    @classmethod
    def by(cls, order: Order, *, descending: bool) -> RunQuery:
        """One that leaves nothing out and sorts by `order`."""
        query = cls()
        query._orders = ((order, descending),)
        return query

    def __bool__(self) -> bool:
        return bool(self.text.strip())

    def __repr__(self) -> str:
        return f"RunQuery({self.text!r}, {self.mode!r})"

    @property
    def selects(self) -> bool:
        """It leaves out runs, instead of only sorting them."""
        return self._test is not None

    @property
    def sorts(self) -> bool:
        """It says how to sort."""
        return bool(self._orders)

    def matches(self, entry: RunEntry, now: float) -> bool:
        """Whether a run passes at `now` (Unix seconds)."""
        return self.error is None and (self._test is None or self._test(entry, now))

    def sorted(self, entries: Iterable[RunEntry], now: float) -> list[RunEntry]:
        """In the order that the query asks for: newest first where it says nothing, and among equals."""
        found = sorted(entries, key=_age)
        for order, descending in reversed(self._orders):
            ranked = [(order(entry, now), entry) for entry in found]
            with_value = [pair for pair in ranked if pair[0] is not None]
            with_value.sort(key=itemgetter(0), reverse=descending)
            found = [entry for _, entry in with_value] + [entry for rank, entry in ranked if rank is None]
        return found

    def select(self, entries: Iterable[RunEntry], now: float) -> list[RunEntry]:
        """Those that pass, in order."""
        if self.error is not None:
            return []
        test = self._test
        return self.sorted(entries if test is None else [entry for entry in entries if test(entry, now)], now)


def _age(entry: RunEntry) -> tuple[float, str]:
    return -(entry.started or 0.0), entry.key


class _Parser:
    """Words → one test; `orders` collects what to sort by and whether descending."""

    def __init__(self, words: Sequence[Word], mode: Mode) -> None:
        self._words = words
        self._mode: Mode = mode
        self._at = 0
        self._depth = 0
        self.orders: list[tuple[Order, bool]] = []

    def query(self) -> Test | None:
        """All of it; None where every run passes. Raises QueryError."""
        test = self._any()
        if self._at < len(self._words):
            raise self._words[self._at].error("a ) without its (")
        return test

    def _next(self) -> str:
        """The next word, if nothing in it is quoted, in lower case."""
        return self._words[self._at].plain.lower() if self._at < len(self._words) else ""

    def _any(self) -> Test | None:
        """`or` of groups. A group that only sorts lets every run pass, but does not count among others."""
        tests = []
        while True:
            begin = self._at
            test = self._all()
            if test is not None:
                tests.append(test)
            if self._next() not in ("or", "|"):
                if self._at == begin and begin:
                    raise self._words[begin - 1].error(f"nothing behind {self._words[begin - 1].text}")
                break
            if self._at == begin:
                raise self._words[begin].error(f"nothing before {self._words[begin].text}")
            self._at += 1
        return _any_of(tests)

    def _all(self) -> Test | None:
        tests: list[Test] = []
        while self._at < len(self._words):
            word = self._next()
            if word in ("or", "|", ")"):
                break
            if word == "and":
                place = self._words[self._at]
                if not tests:
                    raise place.error("nothing before and")
                self._at += 1
                if self._next() in ("", "and", "or", "|", ")") and not self._quoted_next():
                    raise place.error("nothing behind and")
                continue
            test = self._term()
            if test is not None:
                tests.append(test)
        return _all_of(tests)

    def _quoted_next(self) -> bool:
        return self._at < len(self._words) and not self._words[self._at].plain

    def _term(self) -> Test | None:
        word = self._words[self._at]
        plain = word.plain.lower()
        if plain in ("not", "-", "!"):
            self._at += 1
            if self._at == len(self._words) or self._next() in ("or", "|", ")", "and"):
                raise word.error(f"nothing behind {word.text}")
            return self._negated(word, self._nested(word, self._term))
        if plain == "(":
            self._at += 1
            test = self._nested(word, self._any) if self._next() != ")" else None
            if self._next() != ")":
                raise word.error("a ( without its )")
            if test is None:
                raise word.error("nothing between ( and )")
            self._at += 1
            return test
        self._at += 1
        if len(word.text) > 1 and word.text[0] in "-!" and not word.quoted[0]:
            return self._negated(word, self._clause(word.after(1), nested=True))
        return self._clause(word, nested=self._depth > 0)

    def _nested(self, word: Word, parse: Callable[[], Test | None]) -> Test | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise word.error("nested too deep")
        test = parse()
        self._depth -= 1
        return test

    def _negated(self, word: Word, test: Test | None) -> Test | None:
        if test is None:
            raise word.error(f"nothing behind {word.text[:1]}")
        return lambda entry, now: not test(entry, now)

    def _clause(self, word: Word, nested: bool) -> Test | None:
        place = _operator_in(word)
        if place is None:
            return anywhere(word, self._mode)
        at, operator = place
        name = Word(word.text[:at], word.places[:at], word.quoted[:at], word.start, word.places[at])
        value = word.after(at + len(operator))
        if operator == ":" and name.text.lower() in _HAS:
            if not value.text:
                raise value.error(f"{name.text}: needs a field")
            return has(field_of(value))
        if operator == ":" and name.text.lower() in _SORT:
            if nested:
                raise word.error("sort: is for the whole list, not for a part of the query")
            self.orders += _orders(value)
            return None
        return compare(field_of(name), operator, value, self._mode)


def _operator_in(word: Word) -> tuple[int, str] | None:
    """Where the operator of a clause is, and which; None for a bare word."""
    for at in range(1, len(word.text)):
        if word.quoted[at] or word.text[at] not in ":=!<>":
            continue
        if word.quoted[0] or not word.text[0].isalpha():
            return None
        for operator in OPERATORS:
            if word.text.startswith(operator, at):
                return at, operator
    return None


def _orders(value: Word) -> list[tuple[Order, bool]]:
    orders = []
    at = 0
    for name in value.text.split(","):
        part = value.after(at)
        part = Word(name, part.places[: len(name)], part.quoted[: len(name)], part.start, part.start + len(name))
        at += len(name) + 1
        descending = name.startswith("-")
        if descending or name.startswith("+"):
            part = Word(part.text[1:], part.places[1:], part.quoted[1:], part.start + 1, part.end)
        if not part.text:
            raise value.error("sort: needs a field: sort:-created, sort:summary.loss")
        orders.append((order_by(field_of(part)), descending))
    return orders


def _any_of(tests: Sequence[Test]) -> Test | None:
    if len(tests) == 2:
        one, other = tests
        return lambda entry, now: one(entry, now) or other(entry, now)
    if len(tests) > 2:
        return lambda entry, now: any(test(entry, now) for test in tests)
    return tests[0] if tests else None


def _all_of(tests: Sequence[Test]) -> Test | None:
    if len(tests) == 2:
        one, other = tests
        return lambda entry, now: one(entry, now) and other(entry, now)
    if len(tests) > 2:
        return lambda entry, now: all(test(entry, now) for test in tests)
    return tests[0] if tests else None
