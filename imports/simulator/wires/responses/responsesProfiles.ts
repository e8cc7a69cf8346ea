/**
 * What differs between the vendors of the Responses wire, as in recorded traffic (openai-resp-*, azure-resp-*,
 * xai-resp-*).
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { randomHex, randomAlphanumeric, randomUuid } from '../../randomIds';

export interface ResponsesProfile {
  readonly responseId: () => string;
  /** The id of an item of a response. */
  readonly itemId: (prefix: 'rs' | 'msg' | 'fc' | 'cmp', responseId: string, index: number) => string;
  readonly callId: (index: number) => string;
  /** Reasoning items carry a status. */
  readonly reasoningHasStatus: boolean;
  /** Sends all arguments of a call in one delta. */
  readonly sendsArgumentsAtOnce: boolean;
}

const REFERENCE: ResponsesProfile = {
  responseId: () => `resp_${randomHex(50)}`,
  itemId: (prefix) => `${prefix}_${randomHex(50)}`,
  callId: () => `call_${randomAlphanumeric(24)}`,
  reasoningHasStatus: false,
  sendsArgumentsAtOnce: false,
};

const XAI: ResponsesProfile = {
  responseId: randomUuid,
  itemId: (prefix, responseId, index) => `${prefix}_${responseId}${prefix === 'fc' ? `_${index}` : ''}`,
  callId: (index) => `call-${randomUuid()}-${index}`,
  reasoningHasStatus: true,
  sendsArgumentsAtOnce: true,
};

export function responsesProfile(vendor: VendorName): ResponsesProfile {
  return vendor === 'grok' ? XAI : REFERENCE;
}
