/** From where somebody acts. */
export interface ActorClient {
  /** The IP address, as the proxies in front of the server report it. */
  readonly address?: string;
  readonly userAgent?: string;
  /** The request came with the session of a browser, not with a token. */
  readonly hasSession?: true;
}

const MAX_ADDRESS_LENGTH = 64;
const MAX_USER_AGENT_LENGTH = 200;

/** The texts come from outside, so they are bounded and without control characters. */
export function actorClient(address: unknown, userAgent: unknown, hasSession = false): ActorClient {
  return {
    ...boundedText('address', address, MAX_ADDRESS_LENGTH),
    ...boundedText('userAgent', userAgent, MAX_USER_AGENT_LENGTH),
    ...(hasSession ? { hasSession } : {}),
  };
}

function boundedText<N extends 'address' | 'userAgent'>(
  name: N,
  value: unknown,
  maxLength: number,
): { readonly [K in N]?: string } {
  if (typeof value !== 'string') return {};
  const text = value.replace(/\p{C}/gu, '').slice(0, maxLength).trim();
  return (text === '' ? {} : { [name]: text }) as { readonly [K in N]?: string };
}
