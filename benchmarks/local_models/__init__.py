"""How models on this machine are measured: samples, ways of asking, tables."""
