"""Strategies: how bytes are damaged, and which numbers and words are hostile."""

import warnings

import numpy as np
from hypothesis import strategies as st

WHOLE = [-(2**63), -(10**9), -1, 0, 1, 2, 3, 2**16, 2**24, 2**31 - 1, 2**31, 2**63 - 1, 2**64, 10**12, 10**23]
REAL = [0.0, -0.0, 5e-324, 1e-300, 0.5, 1.0, 1.5, -1.0, 1e308, float("inf"), float("-inf"), float("nan")]
WORDS = [
    "", " ", "\n", "\r\n", "\t", "\0", "a\0b", "<script>alert(1)</script>", "[bold]x[/bold]",
    "{{ 7 * 7 }}", "$x^2$", "\x1b[31mred", "\u202eabc", "é", "e\u0301", "🙂", "名", "\ud800", "..",
    "../../x", "/", "a/b", "-", "--help", "%s%n", "NaN", "None", "w0", "'\"", "x" * 3000,
]  # fmt: skip

words = st.sampled_from(WORDS) | st.text(max_size=8)
numbers = st.sampled_from(WHOLE) | st.sampled_from(REAL) | st.integers(-5, 20) | st.floats()


@st.composite
def damaged(draw, data: bytes) -> bytes:
    """Draw `data` with some bytes changed, cut out, put in, doubled or set to zero, or cut off."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([1, 1, 2, 4, 8, 64, 1000])))
        kind = draw(st.sampled_from(["change", "zero", "cut", "insert", "double", "truncate", "number"]))
        middle = {
            "change": draw(st.binary(min_size=end - start, max_size=end - start))
            if kind == "change"
            else b"",
            "zero": bytes(end - start),
            "cut": b"",
            "insert": draw(st.binary(max_size=20)) + data[start:end] if kind == "insert" else b"",
            "double": 2 * data[start:end],
            "truncate": b"",
            "number": str(draw(st.sampled_from(WHOLE))).encode() if kind == "number" else b"",
        }[kind]
        data = data[:start] + middle + (b"" if kind == "truncate" else data[end:])
    return data


@st.composite
def arrays(draw, like: np.ndarray) -> np.ndarray:
    """Draw `like` with entries, type, shape or order changed."""
    array = np.array(like)
    kind = draw(
        st.sampled_from(["entry", "entry", "entry", "all", "type", "shape", "short", "long", "other"])
    )
    if kind in ("entry", "all") and array.size:
        value = draw(words) if array.dtype.kind in "OTU" else draw(numbers)
        array = array.astype(object)
        array.flat[draw(st.integers(0, array.size - 1)) if kind == "entry" else slice(None)] = value
        return _narrow(array)
    if kind == "type":
        dtype = draw(
            st.sampled_from(["f8", "f4", "i1", "u1", "u8", "?", "c16", "O", "S3", "U2", "M8[s]", ">i4", "f2"])
        )
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                return array.astype(dtype)
        except (ValueError, TypeError, OverflowError):
            return array
    if kind == "shape":
        return (
            draw(st.sampled_from([array.reshape(1, -1), array.reshape(-1, 1), array.ravel()[:1].reshape(())]))
            if array.size
            else array[None]
        )
    if kind == "short":
        return array[: draw(st.integers(0, len(array)))] if array.ndim else array
    if kind == "long":
        return np.concatenate([array, array]) if array.ndim else np.array([array, array])
    return draw(
        st.sampled_from(
            [np.zeros(0), np.array(None), np.array("x"), np.array([[1, 2], [3, 4]]), np.array(np.nan)]
        )
    )


def _narrow(array: np.ndarray) -> np.ndarray:
    """Array of objects in the type that its entries suggest."""
    try:
        return np.array(array.tolist())
    except (ValueError, OverflowError):
        return array
