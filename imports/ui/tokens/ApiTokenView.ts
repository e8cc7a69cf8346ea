/** A token as the page shows it. */
import type { ResultOf } from '../data/operations';

export type ApiTokenView = ResultOf<'ai.tokens.list'>['tokens'][number];
