/** Raw requests, for bodies that the SDKs would never send. */
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { asObject, parseJson } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { GOOD_KEY } from './clients';

/** The generation URL of each wire, relative to the simulator. */
export const ADDRESS = {
  responses: '/openai/v1/responses',
  chat_completions: '/openai/v1/chat/completions',
  anthropic_messages: '/anthropic/v1/messages',
  gemini: '/google/v1beta/models/gemini-2.5-flash:generateContent',
} as const;

export const CHAT_ADDRESS: Partial<Record<VendorName, string>> = {
  openai: '/openai/v1/chat/completions',
  azure_openai: '/azure/openai/v1/chat/completions',
  grok: '/xai/v1/chat/completions',
  groq: '/groq/openai/v1/chat/completions',
  llama: '/llama/v1/chat/completions',
  openai_compatible: '/compatible/v1/chat/completions',
};

export function post(
  simulator: Simulator,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(simulator.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${GOOD_KEY}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export interface Verdict {
  readonly status: number;
  /** The error's message, from whichever format the vendor uses. */
  readonly message: string;
  readonly body: Record<string, unknown>;
}

export async function verdictOn(simulator: Simulator, path: string, body: unknown): Promise<Verdict> {
  const response = await post(simulator, path, body);
  const parsed = asObject(parseJson(await response.text()));
  const message = typeof parsed.error === 'string' ? parsed.error : asObject(parsed.error).message;
  return { status: response.status, message: typeof message === 'string' ? message : '', body: parsed };
}

export interface RefusalCase {
  readonly rule: string;
  readonly rejected: unknown;
  /** The same body without the violation. */
  readonly accepted: unknown;
  readonly message: string | RegExp;
  readonly path?: string;
  readonly status?: number;
}
