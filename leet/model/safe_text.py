"""Text of a log made harmless for a terminal.

Whatever a log holds is data. A name such as `loss\\x1b[2J` or one with a right-to-left override must neither move
the cursor nor lie about its order, so everything that a terminal could obey or hide is replaced by something seen.
"""

from __future__ import annotations

import re

# Cc and Cf (with bidi controls, zero-width characters and tags), line and paragraph separators, lone surrogates, and
# letters that are invisible by design (Hangul fillers, combining grapheme joiner, Khmer inherent vowels).
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, erase
    r"|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC: titles, links, images
    r"|[ -/]*[0-~]?"  # two-character sequences and character sets
    r")|\x9b[0-?]*[ -/]*[@-~]?|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)

_TAB = "    "


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code < 0x100:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:
        return "�"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _visible_in_lines(match: re.Match[str]) -> str:
    if match[0] == "\n":
        return "\n"
    return _TAB if match[0] == "\t" else _visible(match)


def clean(text: str, keep_newlines: bool = False) -> str:
    """`text` with everything that a terminal would obey or hide replaced by something visible.

    Control characters become control pictures (`␛`, `␊`), other invisible ones their escapes (`\\u202e`), lone
    surrogates `�`. With `keep_newlines` line feeds stay and tabs become spaces. The result is idempotent and can be
    encoded as UTF-8; text that was harmless comes back as it is.
    """
    if text.isprintable() and text.isascii():
        return text
    return UNSAFE.sub(_visible_in_lines if keep_newlines else _visible, text)


def strip_escapes(text: str) -> str:
    """`text` without its escape sequences (ECMA-48 and OSC, finished or not); other controls stay."""
    return _ESCAPE.sub("", text) if "\x1b" in text or not text.isascii() else text


def plain_line(text: str) -> str:
    """One line of console output as the terminal would have ended up showing it, roughly, and harmless.

    Escape sequences are removed and a carriage return starts the line anew (progress bars), which is exact for
    programs that rewrite their whole line. Backspaces rub out; the rest goes through `clean`.
    """
    if text.isprintable() and text.isascii():
        return text
    text = strip_escapes(text.rstrip("\r")).rpartition("\r")[2]
    while "\b" in text:
        rubbed = re.sub("[^\b]\b", "", text).lstrip("\b")
        if rubbed == text:
            break
        text = rubbed
    return clean(text.replace("\t", _TAB))
