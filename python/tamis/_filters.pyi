# SPDX-License-Identifier: Apache-2.0
# Made by ../make_stubs.py from the filters' tables; `make docs` writes it anew.
from typing import Any, Literal, Sequence, overload

from numpy import ndarray
from numpy.typing import NDArray

_Size = int | Sequence[int] | str
_Value = float | str
_Numbers = float | Sequence[float] | NDArray[Any] | str
_Matrix = Sequence[Sequence[float]] | NDArray[Any] | str

def specs() -> list[dict[str, Any]]: ...

__all__ = ["affine", "alpha", "bilateral", "box", "canny", "color", "convolve", "denoise", "gaussian", "laplacian", "median", "nlmeans", "perspective", "prewitt", "remap", "resize", "rotate", "scharr", "sharpen", "sobel", "unsharp"]

@overload
def affine(
    image: ndarray[Any, Any],
    /,
    matrix: _Numbers = "auto",
    *,
    inverse: int = 0,
    scale: _Numbers = "auto",
    shear: _Numbers = "auto",
    angle: float = 0.0,
    translate: _Numbers = "auto",
    center: _Numbers = "auto",
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Move, turn, scale and shear.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    matrix : 6 numbers, each -1000000000 .. 1000000000, default auto
        x' = a x + b y + c, y' = d x + e y + f as a,b,c,d,e,f
    inverse : 0 .. 1, default 0
        1: matrix maps the result to the picture
    scale : 1 to 2 numbers, each -1000000 .. 1000000, default auto
        larger by so much; across and down may differ
    shear : 1 to 2 numbers, each -1000000 .. 1000000 [px], default auto
        moved across per pixel down, and down per pixel across
    angle : -1000000 .. 1000000 [degrees], default 0.0
        turn, counter-clockwise as seen
    translate : 2 numbers, each -1000000000 .. 1000000000 [px], default auto
        move across and down
    center : 2 numbers, each -1000000000 .. 1000000000 [px], default auto
        what scale, shear and angle keep; auto: the middle
    size : 1 .. 50000000, or 'same', or 'fit' [px], default same
        size of the result; fit: what holds the whole picture
    interp : nearest, linear, cubic, lanczos3, area, default linear
        how values between pixels are found
    cubic_a : -1 .. 0, default -0.5
        slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, default premultiply
        alpha channel: weight color by it, or move it like color
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def affine(
    image: Any,
    /,
    matrix: _Numbers = "auto",
    *,
    inverse: int = 0,
    scale: _Numbers = "auto",
    shear: _Numbers = "auto",
    angle: float = 0.0,
    translate: _Numbers = "auto",
    center: _Numbers = "auto",
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def alpha(
    image: ndarray[Any, Any],
    /,
    to: Literal["premultiplied", "straight", "none", "opaque"] = "none",
    *,
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Multiply color by alpha, divide it again, drop alpha or add it.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    to : premultiplied, straight, none, opaque, default none
        what the result's alpha is to be
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def alpha(
    image: Any,
    /,
    to: Literal["premultiplied", "straight", "none", "opaque"] = "none",
    *,
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def bilateral(
    image: ndarray[Any, Any],
    /,
    sigma_space: float = 3.0,
    *,
    sigma_color: _Value = "11.7647%",
    ksize: _Size = 0,
    color: Literal["joint", "separate", "luma"] = "joint",
    window: Literal["square", "disc"] = "square",
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Smooths noise and keeps edges, averaging what is near and alike.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    sigma_space : 0.1 .. 128 [px], default 3.0
        standard deviation of the Gaussian of the distance in the picture
    sigma_color : 1e-09 .. 1000000000, or '10%' of the type's range, or 'auto' [levels], default 11.7647%
        standard deviation of the Gaussian of the difference in value; two to three times that of the noise; auto: by the noise of the picture
    ksize : 0 .. 513, odd [px], default 0
        width and height of the window; 0 = 2 * ceil(2 * sigma_space) + 1
    color : joint, separate, luma, default joint
        one weight for all channels, each channel alone, or luma with these weights and chroma by a Gaussian
    window : square, disc, default square
        shape of the window
    compat : none, opencv, default none
        opencv: disc, sum of absolute differences as color distance, radius round(1.5 * sigma_space)
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    guide : array, optional
        The second picture.
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def bilateral(
    image: Any,
    /,
    sigma_space: float = 3.0,
    *,
    sigma_color: _Value = "11.7647%",
    ksize: _Size = 0,
    color: Literal["joint", "separate", "luma"] = "joint",
    window: Literal["square", "disc"] = "square",
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def box(
    image: ndarray[Any, Any],
    /,
    ksize: _Size = 3,
    *,
    anchor_x: int | Literal["auto"] = "auto",
    anchor_y: int | Literal["auto"] = "auto",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Mean of a window of any size.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    ksize : 1 .. 32767 [px], default 3
        window, odd or even: one number, or width x height
    anchor_x : 0 .. 32766 [px], default auto
        column of the window that lies on the pixel; auto: half its width
    anchor_y : 0 .. 32766 [px], default auto
        row of the window that lies on the pixel; auto: half its height
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def box(
    image: Any,
    /,
    ksize: _Size = 3,
    *,
    anchor_x: int | Literal["auto"] = "auto",
    anchor_y: int | Literal["auto"] = "auto",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def canny(
    image: ndarray[Any, Any],
    /,
    low: _Value = "20%",
    *,
    high: _Value = "60%",
    sigma: float = 0.0,
    ksize: int = 3,
    norm: Literal["l2", "l1"] = "l2",
    color: Literal["separate", "luma"] = "luma",
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Edges as lines one pixel wide, by slopes and two thresholds.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    low : 0 .. 1000000000, or '10%' of the type's range, or 'auto' [levels], default 20%
        size of slope above which a pixel may belong to an edge; auto: 0.4 times high
    high : 0 .. 1000000000, or '10%' of the type's range, or 'auto' [levels], default 60%
        size of slope above which it begins one; not below low; auto: by the slopes that the picture has
    sigma : 0 .. 50 [px], default 0.0
        standard deviation of the Gaussian that smooths first; 0: none
    ksize : 3 .. 7, odd [px], default 3
        width and height of the slopes' window: 3, 5 or 7
    norm : l2, l1, default l2
        size of the slope: root of the squares' sum, or sum of absolute values
    color : separate, luma, default luma
        each channel alone, or the luma of RGB
    compat : none, opencv, default none
        opencv: its border rule, and its scale of ksize 7; u8, no sigma
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def canny(
    image: Any,
    /,
    low: _Value = "20%",
    *,
    high: _Value = "60%",
    sigma: float = 0.0,
    ksize: int = 3,
    norm: Literal["l2", "l1"] = "l2",
    color: Literal["separate", "luma"] = "luma",
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def color(
    image: ndarray[Any, Any],
    /,
    from_: Literal["gray", "rgb", "ycbcr", "lab", "auto"] = "auto",
    *,
    to: Literal["gray", "rgb", "ycbcr", "lab"] = "gray",
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt601",
    range: Literal["full", "limited"] = "full",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Turn RGB into gray, YCbCr or Lab, and back.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    from_ : gray, rgb, ycbcr, lab, auto, default auto
        color space of the input; auto: gray for one color channel, else rgb
    to : gray, rgb, ycbcr, lab, default gray
        color space of the result
    matrix : bt601, bt709, bt2020, default bt601
        weights of luma and gray
    range : full, limited, default full
        how far YCbCr reaches
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def color(
    image: Any,
    /,
    from_: Literal["gray", "rgb", "ycbcr", "lab", "auto"] = "auto",
    *,
    to: Literal["gray", "rgb", "ycbcr", "lab"] = "gray",
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt601",
    range: Literal["full", "limited"] = "full",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def convolve(
    image: ndarray[Any, Any],
    /,
    kernel: _Matrix = "identity",
    *,
    divisor: float | Literal["auto"] = "auto",
    bias: _Value = 0,
    anchor_x: int | Literal["auto"] = "auto",
    anchor_y: int | Literal["auto"] = "auto",
    flip: Literal["off", "on"] | bool = "off",
    separable: Literal["auto", "off"] = "auto",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Weighted sum of a window with any kernel: correlation or convolution.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    kernel : 2-D array, or 'identity', or 'sharpen', or 'sharpen8', or 'edge', or 'laplacian', or 'emboss', or 'gauss3', or 'gauss5', or 'box3', or 'box5', default identity
        weights a,b,..;c,d,.. row after row, ROWxCOLUMN, @FILE, or a name
    divisor : 0.0001 .. 1000000000, default auto
        what the weighted sum is divided by; auto: the kernel's sum where that is positive, else 1
    bias : -1000000000 .. 1000000000, or '10%' of the type's range [levels], default 0
        added to the result
    anchor_x : 0 .. 65535 [px], default auto
        column of the kernel on the pixel; auto: half its width
    anchor_y : 0 .. 65535 [px], default auto
        row of the kernel on the pixel; auto: half its height
    flip : off, on, default off
        turn the kernel by half a turn: convolution instead of correlation
    separable : auto, off, default auto
        columns first, then rows, where the kernel is a sum of few such products
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def convolve(
    image: Any,
    /,
    kernel: _Matrix = "identity",
    *,
    divisor: float | Literal["auto"] = "auto",
    bias: _Value = 0,
    anchor_x: int | Literal["auto"] = "auto",
    anchor_y: int | Literal["auto"] = "auto",
    flip: Literal["off", "on"] | bool = "off",
    separable: Literal["auto", "off"] = "auto",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def denoise(
    image: ndarray[Any, Any],
    /,
    strength: Literal["auto", "light", "medium", "strong"] = "auto",
    *,
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Removes noise with the filter and the strength that suit the picture.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    strength : auto, light, medium, strong, default auto
        how much of the noise goes; auto and medium: the least error
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def denoise(
    image: Any,
    /,
    strength: Literal["auto", "light", "medium", "strong"] = "auto",
    *,
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def gaussian(
    image: ndarray[Any, Any],
    /,
    sigma: float | Literal["auto"] = "auto",
    *,
    sigma_x: float | Literal["auto"] = "auto",
    sigma_y: float | Literal["auto"] = "auto",
    ksize: _Size = 0,
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Smooth with a Gaussian window.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    sigma : 0.01 .. 5000 [px], default auto
        standard deviation; auto: from ksize, or 1.5
    sigma_x : 0.01 .. 5000 [px], default auto
        standard deviation across; auto: sigma
    sigma_y : 0.01 .. 5000 [px], default auto
        standard deviation down; auto: sigma
    ksize : 0 .. 32767, odd [px], default 0
        window; 0: about 6 sigma + 1
    compat : none, opencv, default none
        whose rule gives ksize from sigma
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def gaussian(
    image: Any,
    /,
    sigma: float | Literal["auto"] = "auto",
    *,
    sigma_x: float | Literal["auto"] = "auto",
    sigma_y: float | Literal["auto"] = "auto",
    ksize: _Size = 0,
    compat: Literal["none", "opencv"] = "none",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def laplacian(
    image: ndarray[Any, Any],
    /,
    neighbors: Literal["4", "8"] = "4",
    *,
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """How much the neighbors are brighter: second derivative, edges of both signs.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    neighbors : 4, 8, default 4
        which neighbors count: those beside the pixel, or corners too
    type : auto, same, u8, u16, s16, f32, default auto
        sample type of the result; auto keeps signs
    scale : -1000000 .. 1000000, default 1.0
        factor of the result
    delta : -1000000 .. 1000000 [levels], default 0.0
        added to the scaled result
    color : separate, luma, default separate
        each channel alone, or the luma of RGB
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def laplacian(
    image: Any,
    /,
    neighbors: Literal["4", "8"] = "4",
    *,
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def median(
    image: ndarray[Any, Any],
    /,
    ksize: _Size = 3,
    *,
    percentile: float = 50.0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "straight",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Median or other percentile of a window: removes impulse noise, keeps edges.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    ksize : 1 .. 255, odd, or 'auto' [px], default 3
        window: one odd number, or odd width x height; auto: by the share of impulses in the picture
    percentile : 0 .. 100 [%], default 50.0
        which sample of the sorted window: 0 the smallest, 50 the median, 100 the largest
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default straight
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def median(
    image: Any,
    /,
    ksize: _Size = 3,
    *,
    percentile: float = 50.0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "straight",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def nlmeans(
    image: ndarray[Any, Any],
    /,
    h: _Value = "3.92157%",
    *,
    patch: _Size = 7,
    search: _Size = 21,
    sigma: _Value = 0,
    color: Literal["joint", "luma", "separate"] = "joint",
    frames: int = 0,
    motion: int = 0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Removes noise by averaging pixels whose surroundings look alike.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    h : 0 .. 1000000000, or '10%' of the type's range, or 'auto' [levels], default 3.92157%
        strength: about the standard deviation of the noise; 0 = no change; auto: by the noise of the picture
    patch : 1 .. 63, odd [px], default 7
        width and height of the patches that are compared
    search : 1 .. 99, odd [px], default 21
        width and height of the window in which like patches are sought
    sigma : 0 .. 1000000000, or '10%' of the type's range, or 'auto' [levels], default 0
        standard deviation of the noise, whose part is taken off the distance of patches; at most 8 h; auto: that of the picture
    color : joint, luma, separate, default joint
        one weight for all channels, from all of them or from luma, or each channel alone
    frames : 0 .. 16 [frames], default 0
        frames before and after the current one in which like patches are sought too: pages of the file
    motion : 0 .. 128 [px], default 0
        how far things may move from the current frame to each of the others, whose blocks are then sought and put back; 0 = frames are taken as they are
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def nlmeans(
    image: Any,
    /,
    h: _Value = "3.92157%",
    *,
    patch: _Size = 7,
    search: _Size = 21,
    sigma: _Value = 0,
    color: Literal["joint", "luma", "separate"] = "joint",
    frames: int = 0,
    motion: int = 0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def perspective(
    image: ndarray[Any, Any],
    /,
    matrix: _Numbers = "auto",
    *,
    inverse: int = 0,
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Map by a 3x3 matrix.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    matrix : 6 to 9 numbers, each -1000000000 .. 1000000000, default auto
        3x3 row by row, picture to result; 6 numbers: the last is 0,0,1
    inverse : 0 .. 1, default 0
        1: matrix maps the result to the picture
    size : 1 .. 50000000, or 'same', or 'fit' [px], default same
        size of the result; fit: what holds the whole picture
    interp : nearest, linear, cubic, lanczos3, area, default linear
        how values between pixels are found
    cubic_a : -1 .. 0, default -0.5
        slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, default premultiply
        alpha channel: weight color by it, or move it like color
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def perspective(
    image: Any,
    /,
    matrix: _Numbers = "auto",
    *,
    inverse: int = 0,
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def prewitt(
    image: ndarray[Any, Any],
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Slope with evenly weighted rows: edges across, down, their size or direction.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    output : magnitude, dx, dy, direction, default magnitude
        size of the slope, slope across, slope down, or its angle
    norm : l2, l1, default l2
        size of the slope: root of the squares' sum, or sum of absolute values
    type : auto, same, u8, u16, s16, f32, default auto
        sample type of the result; auto keeps signs
    scale : -1000000 .. 1000000, default 1.0
        factor of the result
    delta : -1000000 .. 1000000 [levels], default 0.0
        added to the scaled result
    color : separate, luma, default separate
        each channel alone, or the luma of RGB
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def prewitt(
    image: Any,
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def remap(
    image: ndarray[Any, Any],
    /,
    guide: Any,
    *,
    interp: Literal["nearest", "linear", "cubic", "lanczos3"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Take each pixel from where a map says.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    interp : nearest, linear, cubic, lanczos3, default linear
        how values between pixels are found
    cubic_a : -1 .. 0, default -0.5
        slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, default premultiply
        alpha channel: weight color by it, or move it like color
    guide : array
        The second picture.
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def remap(
    image: Any,
    /,
    guide: Any,
    *,
    interp: Literal["nearest", "linear", "cubic", "lanczos3"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def resize(
    image: ndarray[Any, Any],
    /,
    size: _Size = "auto",
    *,
    scale: _Numbers = "auto",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    antialias: int = 1,
    cubic_a: float = -0.5,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Make larger or smaller.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    size : 1 .. 50000000 [px], default auto
        of the result; auto: by scale
    scale : 1 to 2 numbers, each 1e-06 .. 1000000, default auto
        larger by so much; across and down may differ; auto: 1
    interp : nearest, linear, cubic, lanczos3, area, default linear
        how values between pixels are found
    antialias : 0 .. 1, default 1
        1: when shrinking, smooth as much
    cubic_a : -1 .. 0, default -0.5
        slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV
    alpha : premultiply, straight, default premultiply
        alpha channel: weight color by it, or resize it like color
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def resize(
    image: Any,
    /,
    size: _Size = "auto",
    *,
    scale: _Numbers = "auto",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    antialias: int = 1,
    cubic_a: float = -0.5,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def rotate(
    image: ndarray[Any, Any],
    /,
    angle: float = 90.0,
    *,
    center: _Numbers = "auto",
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Turn by any angle.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    angle : -1000000 .. 1000000 [degrees], default 90.0
        counter-clockwise as seen
    center : 2 numbers, each -1000000000 .. 1000000000 [px], default auto
        what stays in place; auto: the middle
    size : 1 .. 50000000, or 'same', or 'fit' [px], default same
        size of the result; fit: what holds the whole picture
    interp : nearest, linear, cubic, lanczos3, area, default linear
        how values between pixels are found
    cubic_a : -1 .. 0, default -0.5
        slope of interp=cubic at 1: -0.5 Catmull-Rom, -0.75 as OpenCV
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, default premultiply
        alpha channel: weight color by it, or move it like color
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def rotate(
    image: Any,
    /,
    angle: float = 90.0,
    *,
    center: _Numbers = "auto",
    size: _Size = "same",
    interp: Literal["nearest", "linear", "cubic", "lanczos3", "area"] = "linear",
    cubic_a: float = -0.5,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def scharr(
    image: ndarray[Any, Any],
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Slope that hardly depends on direction: edges across, down, their size or direction.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    output : magnitude, dx, dy, direction, default magnitude
        size of the slope, slope across, slope down, or its angle
    norm : l2, l1, default l2
        size of the slope: root of the squares' sum, or sum of absolute values
    type : auto, same, u8, u16, s16, f32, default auto
        sample type of the result; auto keeps signs
    scale : -1000000 .. 1000000, default 1.0
        factor of the result
    delta : -1000000 .. 1000000 [levels], default 0.0
        added to the scaled result
    color : separate, luma, default separate
        each channel alone, or the luma of RGB
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def scharr(
    image: Any,
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def sharpen(
    image: ndarray[Any, Any],
    /,
    amount: float = 1.0,
    *,
    neighbors: Literal["4", "8"] = "4",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "ignore",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Add the difference from the nearest neighbors.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    amount : -1 .. 100, default 1.0
        how much of the difference from the neighbors is added
    neighbors : 4, 8, default 4
        neighbors that count
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default ignore
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def sharpen(
    image: Any,
    /,
    amount: float = 1.0,
    *,
    neighbors: Literal["4", "8"] = "4",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "ignore",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def sobel(
    image: ndarray[Any, Any],
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    ksize: int = 3,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Slope of the picture: edges across, down, their size or direction.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    output : magnitude, dx, dy, direction, default magnitude
        size of the slope, slope across, slope down, or its angle
    ksize : 3 .. 7, odd [px], default 3
        width and height of the window: 3, 5 or 7
    norm : l2, l1, default l2
        size of the slope: root of the squares' sum, or sum of absolute values
    type : auto, same, u8, u16, s16, f32, default auto
        sample type of the result; auto keeps signs
    scale : -1000000 .. 1000000, default 1.0
        factor of the result
    delta : -1000000 .. 1000000 [levels], default 0.0
        added to the scaled result
    color : separate, luma, default separate
        each channel alone, or the luma of RGB
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default premultiply
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def sobel(
    image: Any,
    /,
    output: Literal["magnitude", "dx", "dy", "direction"] = "magnitude",
    *,
    ksize: int = 3,
    norm: Literal["l2", "l1"] = "l2",
    type: Literal["auto", "same", "u8", "u16", "s16", "f32"] = "auto",
    scale: float = 1.0,
    delta: float = 0.0,
    color: Literal["separate", "luma"] = "separate",
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "premultiply",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...

@overload
def unsharp(
    image: ndarray[Any, Any],
    /,
    sigma: float = 1.5,
    *,
    amount: float = 1.0,
    threshold: _Value = 0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "ignore",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Sharpen by what a Gaussian takes away.

    Parameters
    ----------
    image : array
        Height x width, with channels as a third axis, or more: see help(tamis).
    sigma : 0.1 .. 1000 [px], default 1.5
        standard deviation of the Gaussian: details finer than this are sharpened
    amount : -1 .. 20, default 1.0
        how much of the difference from the smoothed picture is added
    threshold : 0 .. 1000000000, or '10%' of the type's range [levels], default 0
        differences up to this are left alone, larger ones count as less by it
    border : reflect101, reflect, replicate, wrap, constant, valid, default reflect101
        how the picture continues outside itself
    border_value : -1e+30 .. 1e+30, or '10%' of the type's range [levels], default 0
        value outside the picture for border=constant
    alpha : premultiply, straight, ignore, default ignore
        alpha channel: weight color by it, treat it as a channel, or leave it
    out, channel_axis, alpha_channel, device, threads
        See help(tamis).

    Returns
    -------
    numpy.ndarray"""
@overload
def unsharp(
    image: Any,
    /,
    sigma: float = 1.5,
    *,
    amount: float = 1.0,
    threshold: _Value = 0,
    border: Literal["reflect101", "reflect", "replicate", "wrap", "constant", "valid"] = "reflect101",
    border_value: _Value = 0,
    alpha: Literal["premultiply", "straight", "ignore"] = "ignore",
    out: Any = None,
    channel_axis: int | None | Literal["auto"] = "auto",
    alpha_channel: Literal["straight", "premultiplied"] | None = None,
    guide: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> Any: ...
