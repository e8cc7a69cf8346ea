/** Vendor accounts. */
import { listOf, OBJECT, objectOf, TEXT } from '../jsonSchemas';
import type { RouteDescriptions } from '../RouteDescription';

const PROVIDER = objectOf({ provider: OBJECT });
const PROVIDER_FIELDS = {
  name: TEXT,
  baseURL: TEXT,
  wire: TEXT,
  defaultModel: TEXT,
  models: listOf(TEXT),
  access: OBJECT,
};
const API_KEY = objectOf({ apiKey: { type: ['string', 'null'], description: '`null` removes the key.' } });

export const PROVIDER_ROUTES: RouteDescriptions = {
  'GET /api/providers': {
    summary: 'List the providers that the caller may see',
    result: objectOf({ providers: listOf(OBJECT) }),
  },
  'POST /api/providers': {
    summary: 'Create a provider',
    body: objectOf({ vendor: TEXT }, { apiKey: TEXT, ...PROVIDER_FIELDS }),
    status: 201,
    result: PROVIDER,
  },
  'GET /api/providers/vendors': {
    summary: 'What an account with each vendor needs',
    result: objectOf({ vendors: listOf(OBJECT) }),
  },
  'GET /api/providers/health': {
    summary: 'The last success and failure of each provider',
    result: objectOf({ health: listOf(OBJECT) }),
  },
  'GET /api/providers/:id': { summary: 'Read a provider, without its secrets', result: PROVIDER },
  'POST /api/providers/:id': {
    summary: 'Change the given fields of a provider',
    body: objectOf({}, PROVIDER_FIELDS),
    result: PROVIDER,
  },
  'DELETE /api/providers/:id': { summary: 'Remove a provider', result: PROVIDER },
  'GET /api/providers/:id/models': {
    summary: 'List the models of a provider',
    result: objectOf({ models: listOf(OBJECT), source: TEXT }, { problem: TEXT }),
  },
  'POST /api/providers/:id/connect': { summary: 'Connect an account by OAuth', result: objectOf({ url: TEXT }) },
  'POST /api/providers/:id/disconnect': { summary: 'Disconnect the account', result: PROVIDER },
  'POST /api/providers/:id/test': { summary: 'Find out whether the account can be used', result: PROVIDER },
  'POST /api/providers/:id/my-api-key': { summary: 'Set the caller’s own API key', body: API_KEY, result: PROVIDER },
  'POST /api/providers/:id/api-key': { summary: 'Set the API key', body: API_KEY, result: PROVIDER },
  'POST /api/secrets/rotate': { summary: 'Seal all secrets with the newest key', result: OBJECT },
};
