/** Refuses models that the API token of a call may not use, and every call of a token that is no longer valid. */
import type { LimitedToken } from '../../ai/domain/types/ApiTokenLimits';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';
import { assertModelPermitted } from '../../ai/application/services/shared/assertModelPermitted';
import type { TokenPolicy } from './TokenPolicy';

export interface TokenModelLimiterOptions {
  readonly policy: TokenPolicy;
  /** Undefined for a model that names no provider. */
  readonly routeOf: (model: string) => { readonly providerId: string; readonly model: string | undefined } | undefined;
  /** The model of a provider that a request without one gets. Undefined if only the vendor knows it. */
  readonly defaultModelOf: (providerId: string) => string | undefined;
}

export class TokenModelLimiter implements CallLimiter {
  private readonly options: TokenModelLimiterOptions;

  constructor(options: TokenModelLimiterOptions) {
    this.options = options;
  }

  /** @throws LLMAuthError, LLMPermissionError */
  admit(call: LimitedCall): ReservationHandle | undefined | Promise<ReservationHandle | undefined> {
    const tokenId = call.options.origin?.tokenId;
    const token = tokenId === undefined ? undefined : this.options.policy.find(tokenId);
    return token instanceof Promise ? token.then((found) => this.check(found, call)) : this.check(token, call);
  }

  private check(token: LimitedToken | undefined, { options, model }: LimitedCall): ReservationHandle | undefined {
    if (token?.models === undefined) return undefined;
    const route = this.options.routeOf(model);
    const name =
      route?.model ?? (route === undefined ? undefined : this.options.defaultModelOf(route.providerId)) ?? '';
    const routed = route === undefined ? [] : [`${route.providerId}/${name}`, name];
    assertModelPermitted(token, [options.origin?.requestedModel, model, ...routed].filter(isName));
    return undefined;
  }
}

function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '';
}
