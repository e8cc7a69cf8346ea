/** The header in which each vendor names the request, as recorded; clients show it in their errors. */
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import { hex, letters, uuid } from '../ids';

const HEADERS: Record<VendorName, () => Readonly<Record<string, string>>> = {
  openai: () => ({ 'x-request-id': `req_${hex(32)}`, 'openai-processing-ms': '1' }),
  azure_openai: () => ({ 'apim-request-id': uuid(), 'x-request-id': uuid() }),
  anthropic: () => ({ 'request-id': `req_${letters(24)}` }),
  google: () => ({}),
  grok: () => ({ 'x-request-id': uuid() }),
  groq: () => ({ 'x-request-id': `req_${letters(26).toLowerCase()}` }),
  llama: () => ({}),
  openai_compatible: () => ({}),
};

export function requestIdHeaders(vendor: VendorName): Readonly<Record<string, string>> {
  return HEADERS[vendor]();
}
