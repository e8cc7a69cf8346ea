/**
 * The habits in which hosts of the Responses wire differ, each as in recorded traffic (openai-resp-*, azure-resp-*,
 * xai-resp-*).
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { hex, letters, uuid } from '../../ids';

export interface ResponseHost {
  readonly responseId: () => string;
  /** Id of an item of a response. */
  readonly itemId: (prefix: 'rs' | 'msg' | 'fc' | 'cmp', responseId: string, index: number) => string;
  readonly callId: (index: number) => string;
  /** Reasoning items carry a status. */
  readonly reasoningHasStatus: boolean;
  /** All arguments of a call come in one delta. */
  readonly wholeArguments: boolean;
}

const REFERENCE: ResponseHost = {
  responseId: () => `resp_${hex(50)}`,
  itemId: (prefix) => `${prefix}_${hex(50)}`,
  callId: () => `call_${letters(24)}`,
  reasoningHasStatus: false,
  wholeArguments: false,
};

const XAI: ResponseHost = {
  responseId: uuid,
  itemId: (prefix, responseId, index) => `${prefix}_${responseId}${prefix === 'fc' ? `_${index}` : ''}`,
  callId: (index) => `call-${uuid()}-${index}`,
  reasoningHasStatus: true,
  wholeArguments: true,
};

export function responseHost(vendor: VendorName): ResponseHost {
  return vendor === 'grok' ? XAI : REFERENCE;
}
