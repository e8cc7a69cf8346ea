/** The header with the request id of each vendor, as recorded. Clients show it in their errors. */
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import { profileName } from '../vendorProfiles';
import type { ProfileName } from '../vendorProfiles';
import { randomHex, randomAlphanumeric, randomUuid } from '../randomIds';

const HEADERS: Record<ProfileName, () => Readonly<Record<string, string>>> = {
  openai: () => ({ 'x-request-id': `req_${randomHex(32)}`, 'openai-processing-ms': '1' }),
  azure_openai: () => ({ 'apim-request-id': randomUuid(), 'x-request-id': randomUuid() }),
  anthropic: () => ({ 'request-id': `req_${randomAlphanumeric(24)}` }),
  google: () => ({}),
  grok: () => ({ 'x-request-id': randomUuid() }),
  groq: () => ({ 'x-request-id': `req_${randomAlphanumeric(26).toLowerCase()}` }),
  llama: () => ({}),
  openai_compatible: () => ({}),
};

export function createRequestIdHeaders(vendor: VendorName): Readonly<Record<string, string>> {
  return HEADERS[profileName(vendor)]();
}
