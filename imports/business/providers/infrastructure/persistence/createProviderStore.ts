/** Providers in a document collection. OAuth settings are stored as JSON, because their field names are arbitrary. */
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import { RepeatedReads } from '../../../../database/RepeatedReads';
import type { AuthKind, Provider, ProviderAuth } from '../../domain/entities/Provider';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';

export interface ProviderDocument extends Omit<Provider, 'auth'>, StoredDocument {
  readonly auth: { readonly kind: AuthKind };
  readonly oauth?: string;
}

export type ProviderCollection = DocumentCollection<ProviderDocument>;

export function createProviderStore(collection: ProviderCollection): ProviderStore {
  const lists = new RepeatedReads<readonly Provider[]>(collection);
  return {
    async find(providerId) {
      const found = await collection.findOne({ _id: providerId });
      return found === undefined ? undefined : fromDocument(found);
    },
    all: () =>
      lists.read('all', async () => (await collection.find({}, { sort: { name: 1, _id: 1 } })).map(fromDocument)),
    async insert(provider) {
      await collection.insert(toDocument(provider));
    },
    async replace(provider, readAt) {
      const { _id, ...fields } = toDocument(provider);
      const removed = OPTIONAL_FIELDS.filter((name) => !(name in fields));
      const $unset = Object.fromEntries(removed.map((name) => [name, true as const]));
      return (await collection.update({ _id, updatedAt: readAt }, { $set: { ...fields }, $unset })) === 1;
    },
    async remove(providerId) {
      return (await collection.remove({ _id: providerId })) === 1;
    },
  };
}

const OPTIONAL_FIELDS = [
  'oauth',
  'wire',
  'baseURL',
  'deployment',
  'apiVersion',
  'defaultModel',
  'allowedModels',
  'sharedObjects',
  'hostedTools',
  'limits',
] as const satisfies readonly (keyof ProviderDocument)[];

function toDocument({ auth, ...provider }: Provider): ProviderDocument {
  return { ...provider, auth: { kind: auth.kind }, ...('oauth' in auth ? { oauth: JSON.stringify(auth.oauth) } : {}) };
}

function fromDocument({ auth, oauth, ...provider }: ProviderDocument): Provider {
  return { ...provider, auth: authOf(auth.kind, oauth) };
}

function authOf(kind: AuthKind, oauth: string | undefined): ProviderAuth {
  if (kind === 'api_key' || kind === 'user_api_key') return { kind };
  if (oauth === undefined) throw new TypeError('A stored OAuth provider has no OAuth settings.');
  // This store wrote it from checked settings.
  return { kind, oauth: JSON.parse(oauth) as OAuthSettings };
}
