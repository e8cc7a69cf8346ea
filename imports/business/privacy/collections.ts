/** What is stored of the keys that users' content is sealed with: secrets, which a deletion removes. */
import type { StoredCollection } from '../../database/StoredCollection';
import { CONTENT_KEYS } from './infrastructure/UserContentKeys';

export const PRIVACY_COLLECTIONS = [
  { name: CONTENT_KEYS, bound: 'small', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
