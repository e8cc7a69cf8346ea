/** Refuses models that the API token of a call may not use, and every call of a token that is no longer valid. */
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
  async admit({ options, model }: LimitedCall): Promise<ReservationHandle | undefined> {
    const { tokenId, requestedModel } = options.origin ?? {};
    const token = tokenId === undefined ? undefined : await this.options.policy.find(tokenId);
    if (token?.models === undefined) return undefined;
    const route = this.options.routeOf(model);
    const name =
      route?.model ?? (route === undefined ? undefined : this.options.defaultModelOf(route.providerId)) ?? '';
    const routed = route === undefined ? [] : [`${route.providerId}/${name}`, name];
    assertModelPermitted(token, [requestedModel, model, ...routed].filter(isName));
    return undefined;
  }
}

function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '';
}
