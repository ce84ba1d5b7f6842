"""Markdown as agents write it, in the marks that WhatsApp has."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.channels.whatsapp.formatting import to_whatsapp

CASES = {
    "plain text": ("Hello there.", "Hello there."),
    "nothing": ("", ""),
    "paragraphs": ("a\n\nb", "a\n\nb"),
    "many blank lines": ("a\n\n\n\nb", "a\n\nb"),
    "line ends stay": ("a\nb", "a\nb"),
    "bold": ("so **good** it is", "so *good* it is"),
    "bold by underscores": ("__good__", "*good*"),
    "italic": ("so *good* it is", "so _good_ it is"),
    "italic by underscores": ("_good_", "_good_"),
    "bold italic": ("***good***", "_*good*_"),
    "struck": ("~~bad~~", "~bad~"),
    "bold before a comma": ("**a**, b", "*a*, b"),
    "bold over two lines": ("**a\nb**", "*a*\n*b*"),
    "a product of numbers is none": ("2*3*4 = 24", "2*3*4 = 24"),
    "a name with underscores": ("call snake_case_name now", "call snake_case_name now"),
    "stars with spaces": ("2 * 3 * 4", "2 * 3 * 4"),
    "half a word": ("un**believ**able", "un**believ**able"),
    "code": ("run `ls -l` now", "run `ls -l` now"),
    "marks within code": ("`**a**`", "`**a**`"),
    "code with a backtick": ("`` a`b ``", "```a`b```"),
    "a block of code": ("```python\nx = 1\n\ny = 2\n```", "```\nx = 1\n\ny = 2\n```"),
    "a block of code that is not closed": ("```\nx = 1", "```\nx = 1\n```"),
    "a heading": ("# News\n\ntext", "*News*\n\ntext"),
    "a heading with bold in it": ("## The **big** day", "*The big day*"),
    "a link": ("see [the page](https://a.example/b)", "see the page (https://a.example/b)"),
    "a link that shows itself": ("[https://a.example](https://a.example)", "https://a.example"),
    "a link in brackets": ("<https://a.example>", "https://a.example"),
    "a bare address": ("https://a.example/a_b_c", "https://a.example/a_b_c"),
    "a mail address": ("[a@b.example](mailto:a@b.example)", "a@b.example"),
    "a bold link": ("**[x](https://a.example)**", "*x (https://a.example)*"),
    "a picture": ("![a cat](https://a.example/c.png)", "a cat (https://a.example/c.png)"),
    "a picture without words": ("![](https://a.example/c.png)", "https://a.example/c.png"),
    "a link to a script is no link": ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    "a list": ("- a\n- b", "- a\n- b"),
    "a list by stars": ("* a\n* b", "- a\n- b"),
    "a list of loose items": ("- a\n\n- b", "- a\n- b"),
    "a list within a list": ("- a\n  - b\n    - c", "- a\n  - b\n    - c"),
    "a list with numbers": ("1. a\n2. b", "1. a\n2. b"),
    "a list that starts later": ("3) a\n4) b", "3) a\n4) b"),
    "a list with a second paragraph": ("- a\n\n  b", "- a\n\n  b"),
    "a list with code": ("- a\n  ```\n  x\n  ```", "- a\n  ```\n  x\n  ```"),
    "things to do": ("- [ ] milk\n- [x] eggs", "- [ ] milk\n- [x] eggs"),
    "a quote": ("> a\n> b", "> a\n> b"),
    "a quote of two paragraphs": ("> a\n>\n> b", "> a\n>\n> b"),
    "a rule": ("a\n\n---\n\nb", "a\n\n---\n\nb"),
    "HTML is text": ("<b>x</b> & y", "<b>x</b> & y"),
    "a block of HTML is text": ("<div>\nx\n</div>", "<div>\nx\n</div>"),
    "an entity": ("a &amp; b &lt; c", "a & b < c"),
    "footnotes stay": ("[1]: https://a.example", "[1]: https://a.example"),
    "indented lines are no code": ("a\n\n    b", "a\n\nb"),
    "a small table": (
        "| what | cost |\n|---|---|\n| tea | 2 |\n| **milk** | 10 |",
        "```\nwhat  cost\ntea   2\nmilk  10\n```",
    ),
    "a wide table": (
        "| name | what it is good for |\n|---|---|\n| tea | for the **long** evenings in the winter |",
        "- name: tea; what it is good for: for the *long* evenings in the winter",
    ),
    "a table of wide signs": ("| 名 | x |\n|---|---|\n| a | b |", "```\n名  x\na   b\n```"),
    "a table of heads": ("| a | b |\n|---|---|", "```\na  b\n```"),
}


@pytest.mark.parametrize(("markdown", "shown"), CASES.values(), ids=CASES)
def test_markdown_is_written_in_whatsapps_marks(markdown: str, shown: str) -> None:
    assert to_whatsapp(markdown) == shown


_SIGNS = st.text(st.sampled_from("ab1 é名*_~`#>|-+[]()!<&\\\n\t:.=%"), max_size=120)


@given(_SIGNS | st.text(max_size=60))
def test_no_text_is_too_strange(markdown: str) -> None:
    assert isinstance(to_whatsapp(markdown), str)


_WORDS = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=12)
_AROUND = (
    "{}",
    "**{}**",
    "*{}*",
    "~~{}~~",
    "`{}`",
    "# {}",
    "- {}",
    "1. {}",
    "> {}",
    "[{}](https://x.example)",
    "| {} |",
)


@given(_WORDS, st.data())
def test_every_word_is_kept_in_its_order(words: list[str], data: st.DataObject) -> None:
    parts = [data.draw(st.sampled_from(_AROUND)).format(word) for word in words]
    ends = st.sampled_from([" ", "\n", "\n\n", "\n  ", "\n    "])
    markdown = "".join(part + data.draw(ends) for part in parts)

    shown = to_whatsapp(markdown).replace("https://x.example", "")

    assert regex.findall("[a-z]+", shown) == words


@pytest.mark.parametrize("depth", [5, 19, 39, 500])
@pytest.mark.parametrize("sign", ["> ", "- ", "1. "])
def test_nothing_is_lost_however_deep_it_lies(depth: int, sign: str) -> None:
    assert "word" in to_whatsapp(sign * depth + "word")


@given(st.integers(1, 300), st.sampled_from(["*a ", "_a ", "[", "![", "`a", "~~a ", "**a *b "]))
def test_marks_that_never_end_are_text(count: int, start: str) -> None:
    shown = to_whatsapp(start * count)

    assert shown.count("a") == (start * count).count("a")
