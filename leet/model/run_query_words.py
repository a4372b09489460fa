"""A query cut into words, each letter of which remembers where it stood and whether it was quoted.

    tag:"long run" (a | b)      ─►      tag:long run   (   a   |   b   )

White space ends a word, unless it is quoted. A quote opens at the beginning of a word or of a value; inside, a
backslash before the quote or another backslash stands for that. A parenthesis is a word of its own where one begins or
ends, and a letter like any other inside a word that it is balanced in: `name:(a|b)c` is one word.
"""

from __future__ import annotations

from dataclasses import dataclass

_QUOTES = "\"'"
_OPENS_VALUE = ":=<>."


class QueryError(Exception):
    """What is wrong with a query, one line for people, and the place: `text[start:end]`."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class Word:
    """A word: its letters, where each of them stood, and whether it was quoted."""

    text: str
    places: tuple[int, ...]
    quoted: tuple[bool, ...]
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The text if nothing in it is quoted, else "": what words with a meaning of their own are compared with."""
        return "" if any(self.quoted) or len(self.text) != self.end - self.start else self.text

    def after(self, index: int) -> Word:
        """What is left of the word from a letter on."""
        start = self.places[index] if index < len(self.places) else self.end
        if index < len(self.quoted) and self.quoted[index]:
            start -= 1  # the quote
        return Word(self.text[index:], self.places[index:], self.quoted[index:], start, self.end)

    def error(self, message: str) -> QueryError:
        return QueryError(message, self.start, max(self.end, self.start))


def words_of(text: str) -> list[Word]:
    """The words of a query. Raises QueryError."""
    words = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "()" or (text[at] in "-!" and text[at + 1 : at + 2] == "("):
            words.append(Word(text[at], (at,), (False,), at, at + 1))
            at += 1
        else:
            word = _word(text, at)
            words.append(word)
            at = word.end
    return words


def _word(text: str, start: int) -> Word:
    letters: list[str] = []
    places: list[int] = []
    quoted: list[bool] = []
    open_at: list[int] = []  # parentheses inside the word
    at = start
    while at < len(text) and not text[at].isspace():
        letter = text[at]
        first = at == start or (at == start + 1 and text[start] in "-!")
        if letter in _QUOTES and (first or (text[at - 1] in _OPENS_VALUE and not quoted[-1])):
            close = _close(text, at)
            inner = at + 1
            while inner < close:
                if text[inner] == "\\" and text[inner + 1] in (letter, "\\"):
                    inner += 1
                letters.append(text[inner])
                places.append(inner)
                quoted.append(True)
                inner += 1
            at = close + 1
            continue
        if letter == "(":
            open_at.append(at)
        elif letter == ")":
            if not open_at:
                break
            open_at.pop()
        letters.append(letter)
        places.append(at)
        quoted.append(False)
        at += 1
    return Word("".join(letters), tuple(places), tuple(quoted), start, at)


def _close(text: str, at: int) -> int:
    """Where the quote that opens at a place is closed."""
    quote = text[at]
    place = at + 1
    while place < len(text):
        if text[place] == "\\" and text[place + 1 : place + 2] in (quote, "\\"):
            place += 1
        elif text[place] == quote:
            return place
        place += 1
    raise QueryError(f"no closing {quote}", at, len(text))
