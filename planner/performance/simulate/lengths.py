"""How long prompts and answers are; all for a given random state, in whole tokens of 1 or more."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def whole_tokens(values: Floats) -> Floats:
    """Rounded to whole tokens, 1 or more.

    >>> whole_tokens(np.array([0.2, 2.6]))
    array([1., 3.])
    """
    return np.maximum(np.rint(values), 1.0)


def fixed_tokens(*, mean_tokens: float, requests: int) -> Floats:
    """Every request alike.

    >>> fixed_tokens(mean_tokens=5.0, requests=2)
    array([5., 5.])
    """
    return whole_tokens(np.full(requests, mean_tokens))


def uniform_tokens(random: np.random.Generator, *, most_tokens: float, requests: int) -> Floats:
    """Drawn evenly from 0.8 to 1.0 of the printed length, as InferenceX does, so the mean is 0.9 of it.

    Source:
        planner-inference-notes, section 5 item 3.

    >>> drawn = uniform_tokens(np.random.default_rng(0), most_tokens=1000.0, requests=10_000)
    >>> float(drawn.min()), float(drawn.max()), round(float(drawn.mean()), -1)
    (800.0, 1000.0, 900.0)
    """
    return whole_tokens(random.uniform(0.8 * most_tokens, most_tokens, requests))


def lognormal_tokens(
    random: np.random.Generator, *, mean_tokens: float, variation: float, requests: int
) -> Floats:
    """Many short and a few long ones, as chat traffic has them.

    Args:
        random: Where lengths are drawn from.
        mean_tokens: Their mean.
        variation: Standard deviation over mean, above zero.
        requests: How many.

    Returns:
        Shape (requests,).

    Source:
        Moments of the lognormal distribution: sigma^2 = ln(1 + variation^2), mu = ln(mean) - sigma^2 / 2.

    >>> drawn = lognormal_tokens(np.random.default_rng(0), mean_tokens=500.0, variation=1.0, requests=200_000)
    >>> round(float(drawn.mean()), -1), round(float(drawn.std() / drawn.mean()), 1)
    (500.0, 1.0)
    """
    sigma = np.sqrt(np.log1p(variation**2))
    return whole_tokens(random.lognormal(np.log(mean_tokens) - sigma**2 / 2.0, sigma, requests))


def drawn_from(
    random: np.random.Generator, *, prompt_tokens: Floats, output_tokens: Floats, requests: int
) -> tuple[Floats, Floats]:
    """Pairs of a trace, drawn with replacement, so that long prompts keep their answers.

    Args:
        random: Where rows are drawn from.
        prompt_tokens, output_tokens: Columns of a trace, of one length.
        requests: How many.

    Returns:
        Prompts and answers, each of shape (requests,).

    >>> drawn_from(np.random.default_rng(0), prompt_tokens=np.array([7.0]), output_tokens=np.array([2.0]), requests=2)
    (array([7., 7.]), array([2., 2.]))
    """
    rows = random.integers(0, prompt_tokens.size, requests)
    return whole_tokens(prompt_tokens[rows]), whole_tokens(output_tokens[rows])
