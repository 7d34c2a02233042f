"""Forms that measured curves are kept in: plain functions of arrays, below the catalog that holds their constants."""
