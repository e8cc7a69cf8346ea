/** One attempt: limits of the call in, an answer with a good status out, everything else as a typed error. */
import { isLLMError, LLMAuthError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { vendorError } from '../../domain/errors/vendorErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits } from '../../domain/types/VendorTypes';
import type { GuardedCall } from './http/HttpExchange';
import type { GuardedResponse } from './http/GuardedResponse';

export interface CallFacts {
  readonly credential: Credential | undefined;
  readonly stream?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeout?: number | undefined;
}

/**
 * @param send makes the request with the call that it is given
 * @throws LLMError for error statuses and transport failures, the signal's reason when aborted
 */
export async function sendCall(
  vendor: string,
  facts: CallFacts,
  limits: TransportLimits,
  send: (call: GuardedCall) => Promise<GuardedResponse>,
): Promise<GuardedResponse> {
  const { credential, stream, signal, timeout } = facts;
  signal?.throwIfAborted();
  if (credential?.token.trim() === '') throw new LLMAuthError('the credential is empty', { vendor });
  // A stream that never begins stalls like one that stops.
  const call = { vendor, signal, timeout, headersTimeout: stream === true ? limits.streamIdleTimeout : undefined };
  let response: GuardedResponse;
  try {
    response = await send(call);
  } catch (error) {
    signal?.throwIfAborted();
    if (isLLMError(error)) throw error;
    // Not even sent. The cause is left out: it quotes headers, keys among them.
    throw new LLMInvalidRequestError('the request could not be built: its URL or a header is not valid', { vendor });
  }
  if (!response.ok) throw await refusal(vendor, response, facts);
  return response;
}

async function refusal(
  vendor: string,
  response: GuardedResponse,
  { credential, signal }: CallFacts,
): Promise<LLMError> {
  const facts = {
    vendor,
    status: response.status,
    headers: response.shownHeaders,
    header: (name: string) => response.header(name),
  };
  try {
    return vendorError({ ...facts, body: withoutToken(await response.text(), credential) });
  } catch (cause) {
    signal?.throwIfAborted();
    // The status alone says enough; what became of the body is kept.
    return vendorError({ ...facts, body: '', cause });
  }
}

/** Hosts quote the key that they refuse, in ways that no pattern foresees; shorter ones are words of their own. */
function withoutToken(body: string, credential: Credential | undefined): string {
  return credential === undefined || credential.token.length < 8
    ? body
    : body.replaceAll(credential.token, '[redacted]');
}
