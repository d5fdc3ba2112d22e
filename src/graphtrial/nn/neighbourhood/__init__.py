"""Parts of PNA and DGN: several aggregators side by side, scaled by the degree, in towers."""
