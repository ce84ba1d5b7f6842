"""Markdown, as agents write it, in WhatsApp's own notation.

`*bold*`, `_italic_`, `~struck~`, code, lists and quotes have marks there; headings become bold, a link
becomes its text and its address, a table a block of code or a list of its rows. No text is lost.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

import regex
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from orchestrator.channels.whatsapp.tables import table_text

_MAX_NESTING: Final = 40
_NO_RULES: Final = ("code", "reference", "html_block", "html_inline")
"""Indented lines are seldom code in a chat; the others would take text away."""
_MARKS: Final[Mapping[str, str]] = MappingProxyType({"strong": "*", "em": "_", "s": "~"})
_IN_A_WORD: Final = regex.compile(r"[\p{L}\p{M}\p{N}]")

_Node = SyntaxTreeNode


def to_whatsapp(markdown: str) -> str:
    """The text with WhatsApp's marks. What is nested too deep to be read stays as it is written."""
    tokens = _parser().parse(markdown)
    # The parser drops what lies deeper than it goes.
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        return markdown
    return _blocks(_Node(tokens).children, frozenset()).strip("\n")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    return parser.enable(["table", "strikethrough"]).disable(list(_NO_RULES))


def _blocks(nodes: Sequence[_Node], marks: frozenset[str], *, between: str = "\n\n") -> str:
    """Blocks one below the other; `marks` are on around them."""
    shown = [(_BLOCKS[node.type](node, marks)) for node in nodes]
    return between.join(block for block in shown if block)


def _paragraph(node: _Node, marks: frozenset[str]) -> str:
    return "".join(_inline(child.children, marks) for child in node.children)


def _heading(node: _Node, marks: frozenset[str]) -> str:
    text = "".join(_inline(child.children, marks | {"strong"}) for child in node.children)
    return text if "strong" in marks else _marked(text, "*")


def _fence(node: _Node, marks: frozenset[str]) -> str:
    return f"```\n{node.content.rstrip()}\n```"


def _rule(node: _Node, marks: frozenset[str]) -> str:
    return "---"


def _quote(node: _Node, marks: frozenset[str]) -> str:
    lines = _blocks(node.children, marks).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _list(node: _Node, marks: frozenset[str]) -> str:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = []
    for offset, item in enumerate(node.children):
        bullet = "- " if number is None else f"{number + offset}{item.markup} "
        items.append(bullet + _indented(_item(item, marks)))
    return "\n".join(items)


def _item(item: _Node, marks: frozenset[str]) -> str:
    is_tight = all(child.hidden for child in item.children if child.type == "paragraph")
    return _blocks(item.children, marks, between="\n" if is_tight else "\n\n")


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ").replace("\n  \n", "\n\n")


def _table(node: _Node, marks: frozenset[str]) -> str:
    rows = [row.children for part in node.children for row in part.children]
    plain = [[_cell(cell, frozenset(_MARKS)) for cell in row] for row in rows]
    shown = [[_cell(cell, marks) for cell in row] for row in rows]
    return table_text(plain, shown)


def _cell(cell: _Node, marks: frozenset[str]) -> str:
    return "".join(_inline(child.children, marks) for child in cell.children).replace("\n", " ")


def _inline(nodes: Sequence[_Node], marks: frozenset[str]) -> str:
    shown = ""
    for place, node in enumerate(nodes):
        if node.type not in _MARKS:
            shown += _INLINE[node.type](node, marks)
            continue
        text = _inline(node.children, marks | {node.type})
        behind = _first_sign(nodes[place + 1 :])
        if node.type in marks:
            shown += text
        elif _touches_words(shown[-1:], behind):
            shown += f"{node.markup}{text}{node.markup}"  # a mark within a word is none in WhatsApp
        else:
            shown += _marked(text, _MARKS[node.type])
    return shown


def _first_sign(nodes: Sequence[_Node]) -> str:
    return nodes[0].content[:1] if nodes and nodes[0].type == "text" else ""


def _touches_words(before: str, behind: str) -> bool:
    return any(sign and _IN_A_WORD.match(sign) for sign in (before, behind))


def _marked(text: str, mark: str) -> str:
    """Every line in marks of its own: they do not reach over line ends."""
    return "\n".join(f"{mark}{line.strip()}{mark}" if line.strip() else line for line in text.split("\n"))


def _text(node: _Node, marks: frozenset[str]) -> str:
    return node.content


def _line_end(node: _Node, marks: frozenset[str]) -> str:
    return "\n"


def _code(node: _Node, marks: frozenset[str]) -> str:
    fence = "```" if "`" in node.content else "`"
    return f"{fence}{node.content}{fence}"


def _link(node: _Node, marks: frozenset[str]) -> str:
    text = _inline(node.children, marks)
    return text if node.markup == "autolink" else _with_address(text, str(node.attrs.get("href", "")))


def _image(node: _Node, marks: frozenset[str]) -> str:
    return _with_address(_inline(node.children, marks), str(node.attrs.get("src", "")))


def _with_address(text: str, address: str) -> str:
    if not text.strip():
        return address
    shows_it = text in (address, address.removeprefix("mailto:"))
    return text if shows_it or not address else f"{text} ({address})"


_BLOCKS: Final[Mapping[str, Callable[[_Node, frozenset[str]], str]]] = MappingProxyType(
    {
        "paragraph": _paragraph,
        "heading": _heading,
        "fence": _fence,
        "hr": _rule,
        "blockquote": _quote,
        "bullet_list": _list,
        "ordered_list": _list,
        "table": _table,
    }
)
_INLINE: Final[Mapping[str, Callable[[_Node, frozenset[str]], str]]] = MappingProxyType(
    {
        "text": _text,
        "softbreak": _line_end,
        "hardbreak": _line_end,
        "code_inline": _code,
        "link": _link,
        "image": _image,
    }
)
