"""The index of examples: a card with a picture for each, and a page with its text.

The picture is drawn from what the compiler decided for sm_80: who holds the elements of a tile in
registers, or in which banks those of a shared tile are.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from docs_pages import pictures

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

#: The sections of the index, and the examples of each in order.
SECTIONS: dict[str, tuple[str, ...]] = {
    "First steps": ("quickstart", "vector_add", "transpose", "tune_matmul"),
    "Products": (
        "matmul", "matmul_batched", "matmul_split_k", "matmul_stream_k", "matmul_persistent",
        "matmul_grouped", "matmul_fp8", "matmul_int8", "matmul_dequant_int4",
        "block_sparse_matmul", "warp_specialized_matmul", "convolution",
    ),
    "Rows": (
        "softmax", "rms_norm", "layer_norm", "cross_entropy", "fp8_cast", "hadamard", "top_k",
        "scan", "histogram",
    ),
    "Attention": (
        "flash_attention", "attention_gqa", "attention_windowed", "attention_varlen",
        "attention_sink", "block_sparse_attention", "attention_backward", "decode_split_kv",
        "mla_decode", "paged_kv", "linear_attention", "chunk_scan",
    ),
    "Mixture of experts": ("moe_routing", "moe_gemm"),
}  # fmt: skip


def examples() -> list[Path]:
    """All examples, in the order of the index."""
    return [EXAMPLES / f"{name}.py" for names in SECTIONS.values() for name in names]


def title_of(source: str) -> tuple[str, str]:
    """The first line of the docstring, without its full stop, and the rest, without the usage."""
    docstring = source.split('"""')[1].strip()
    first, _, rest = docstring.partition("\n")
    rest = re.sub(r"^(usage: )?python examples/.*", "", rest, flags=re.MULTILINE | re.DOTALL)
    return first.rstrip("."), rest.strip()


def page(out: Path) -> str:
    """Cards, section by section."""
    folder = out / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for section, names in SECTIONS.items():
        cards = []
        for name in names:
            source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
            title, _ = title_of(source)
            caption = pictures.draw(EXAMPLES / f"{name}.py", folder / f"{name}.svg")
            _write_page(folder / f"{name}.md", name, source, caption)
            head, _, more = title.partition(":")
            cards.append(
                f'<a href="examples/{name}.html"><img src="_images/{name}.svg" alt="">'
                f"<b>{html.escape(head)}</b><span>{html.escape(more.strip())}</span></a>"
            )
        grid = "\n".join(cards)
        parts.append(f'## {section}\n\n<div class="gallery">\n{grid}\n</div>\n')
    listing = "\n".join(
        f"{_short_title(name)} <examples/{name}>" for names in SECTIONS.values() for name in names
    )
    return "\n".join(parts) + f"\n```{{toctree}}\n:hidden:\n\n{listing}\n```\n"


def _short_title(name: str) -> str:
    """The title up to its colon, for the navigation."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    return title_of(source)[0].partition(":")[0]


def _write_page(file: Path, name: str, source: str, caption: str) -> None:
    title, rest = title_of(source)
    text = f"# {title}\n\n{rest}\n\n" if rest else f"# {title}\n\n"
    text += f"![{caption}]({name}.svg){{.picture}}\n\n*{caption}*\n\n"
    text += f"```console\n$ python examples/{name}.py\n"
    text += f"$ tw run examples/{name}.py --device vgpu:sm_90a\n```\n\n"
    code = source.split('"""', 2)[2].strip()
    file.write_text(text + f"```python\n{code}\n```\n", encoding="utf-8")
