import pytest
from bnpzoo.cli.equations import readable


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\theta_d \sim \mathrm{Dir}_K(\alpha_{g(d)})", "θ_d ~ Dir_K(α_g(d))"),
        (
            r"p(z_i = k) \propto (n_{dk} + \alpha\beta_k)\,\frac{n_{kw} + \eta}{n_k + V\eta}",
            "p(z_i = k) ∝ (n_dk + αβ_k) (n_kw + η) / (n_k + Vη)",
        ),
        (r"\prod_k \left\{ \frac{\Gamma(V)}{(b|a)_{T_{gk}}} \right\}", "∏_k { Γ(V) / (b|a)_(T_gk) }"),
        (r"\lambda \unknown x", "λ \\unknown x"),
    ],
)
def test_equations_are_plain_text(latex, text):
    assert " ".join(readable(latex).split()) == text
