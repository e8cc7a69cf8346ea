/** Everything that a host stores. */
import type { StoredCollection } from '../database/StoredCollection';
import { FEATURES } from './features';

export const COLLECTIONS: readonly StoredCollection[] = FEATURES.flatMap(({ collections }) => collections);
