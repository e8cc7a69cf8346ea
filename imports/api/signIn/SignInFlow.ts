/**
 * A sign-in at the OpenID provider: the authorization code flow with PKCE, state and nonce. What a flow needs until the
 * browser comes back is sealed in the browser's cookie, so that starting one costs the server nothing, whoever asks;
 * every process with the same sealing keys completes it.
 */
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { hashOf, isSameHash, randomToken } from '../../business/providers/application/oauth/flowTokens';
import { singleState } from '../../business/providers/application/oauth/stateRefusals';
import { AUTHORIZATION_LIFETIME_MS } from '../../business/providers/domain/entities/PendingAuthorization';
import { OAuthRefusal } from '../../business/providers/domain/interfaces/AuthorizationServer';
import type { IdentityServer } from '../../business/providers/domain/interfaces/IdentityServer';
import { SealError } from '../../business/providers/domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../business/providers/domain/interfaces/Sealer';
import { withoutSecrets } from '../../business/providers/domain/withoutSecrets';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { Identities } from './Identities';
import { neededClaims, toIdentity, userIdOf } from './signInRules';
import type { SignInRules } from './signInRules';
import type { UsedStates } from './UsedStates';

export interface SignInFlowPorts {
  readonly server: IdentityServer;
  readonly sealer: Sealer;
  readonly states: Pick<UsedStates, 'use'>;
  readonly identities: Pick<Identities, 'admit'>;
  readonly rules: SignInRules;
  /** Where browsers reach this app, without a slash at the end. Always configured, never derived from a request. */
  readonly rootUrl: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export type SignInRefusal =
  | 'unknown-state'
  | 'other-browser'
  | 'state-expired'
  | 'state-used-again'
  | 'refused-by-server'
  | 'invalid-response'
  | 'server-unreachable'
  | 'email-not-verified'
  | 'not-allowed';

export type SignInOutcome =
  /** `replaced` is the id of the session that the browser had when it started. */
  { readonly principal: ApiPrincipal; readonly replaced?: string } | SignInRefused;

export interface SignInRefused {
  readonly refusal: SignInRefusal;
  /** Who was refused. */
  readonly userId?: string;
  /** Quotes the server, so it is untrusted text. */
  readonly detail?: string;
}

/** What the cookie holds. */
interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly expiresAt: number;
  readonly replaced?: string;
}

export const SIGN_IN_PATH = '/sign-in';
const CALLBACK_PATH = '/sign-in/callback';
export const FLOW_SECONDS = AUTHORIZATION_LIFETIME_MS / 1_000;
/** A sealed flow: the key's id, and the box. */
export const SEALED_FLOW = /^[\w-]{1,64}\.[\w-]{1,2000}$/;

export class SignInFlow {
  private readonly ports: SignInFlowPorts;
  private readonly now: () => number;

  constructor(ports: SignInFlowPorts) {
    this.ports = ports;
    this.now = ports.now ?? Date.now;
  }

  /**
   * @param replaced the id of the browser's session
   * @returns where to send the browser, and the value of its cookie
   * @throws LLMInvalidRequestError if the server lacks something
   */
  async start(replaced?: string): Promise<{ readonly url: URL; readonly sealed: string } | SignInRefused> {
    const { server, sealer } = this.ports;
    const flow: Flow = omitUndefined({
      state: randomToken(),
      nonce: randomToken(),
      codeVerifier: randomToken(),
      expiresAt: this.now() + AUTHORIZATION_LIFETIME_MS,
      replaced,
    });
    let url;
    try {
      url = await server.authorizationUrl({ ...flow, redirectUri: this.redirectUri });
    } catch (error) {
      if (isLLMError(error) && error.retryable) return { refusal: 'server-unreachable' };
      throw error;
    }
    const { keyId, sealed } = sealer.seal(JSON.stringify(flow), this.binding);
    return { url, sealed: `${keyId}.${sealed}` };
  }

  /**
   * @param parameters what the browser brought back
   * @param sealed the value of its cookie
   * @throws errors that are faults of this app
   */
  async complete(parameters: URLSearchParams, sealed: string | undefined): Promise<SignInOutcome> {
    const state = singleState(parameters);
    if (state === undefined) return { refusal: 'unknown-state' };
    const flow = sealed === undefined ? undefined : this.open(sealed);
    if (flow === undefined || !isSameHash(hashOf(state), hashOf(flow.state))) return { refusal: 'other-browser' };
    if (this.now() >= flow.expiresAt) return { refusal: 'state-expired' };
    if (!(await this.ports.states.use(hashOf(state), flow.expiresAt))) return { refusal: 'state-used-again' };
    return this.admit(flow, parameters);
  }

  private async admit(flow: Flow, parameters: URLSearchParams): Promise<SignInOutcome> {
    const { server, identities, rules } = this.ports;
    let claims;
    try {
      claims = await server.identify({ ...flow, redirectUri: this.redirectUri, parameters }, neededClaims(rules));
    } catch (error) {
      if (error instanceof OAuthRefusal) return refusalOf(error, parameters);
      if (isLLMError(error) && error.retryable) return { refusal: 'server-unreachable' };
      throw error;
    }
    const identity = toIdentity(claims, server.issuer, rules.groupsClaim);
    if (identity === undefined) return { refusal: 'invalid-response', detail: 'Its id of the user is not usable.' };
    const userId = userIdOf(identity, rules);
    if (userId === undefined) return { refusal: 'email-not-verified', userId: `oidc:${identity.subject}` };
    const principal = await identities.admit(identity);
    if (principal === undefined) return { refusal: 'not-allowed', userId };
    return omitUndefined({ principal, replaced: flow.replaced });
  }

  private open(value: string): Flow | undefined {
    const [keyId = '', sealed = ''] = value.split('.');
    try {
      // `start` sealed it under this binding.
      return JSON.parse(this.ports.sealer.open({ keyId, sealed }, this.binding)) as Flow;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private get redirectUri(): string {
    return this.ports.rootUrl + CALLBACK_PATH;
  }

  private get binding(): SealBinding {
    return ['sign-in', this.ports.server.issuer];
  }
}

function refusalOf({ error, description }: OAuthRefusal, parameters: URLSearchParams): SignInRefused {
  const text = error === 'invalid_response' ? (description ?? error) : [error, description].filter(Boolean).join(': ');
  return {
    refusal: error === 'invalid_response' ? 'invalid-response' : 'refused-by-server',
    detail: withoutSecrets(text, [parameters.get('code'), parameters.get('state')]),
  };
}
