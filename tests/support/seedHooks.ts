/** Gives every property test the same seed when `BOLIDE_SEED` is set, as in CI, and has reports name the cause. */
import { config } from 'chai';
import { configureGlobal } from 'fast-check';

const seed = process.env['BOLIDE_SEED'];
configureGlobal({ includeErrorInReport: true, ...(seed === undefined ? {} : { seed: Number(seed) }) });
// Characters of a value in the report of a failure. The default of 40 hides what a response said.
config.truncateThreshold = 4_000;
