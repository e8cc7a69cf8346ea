/** Types for the part of `oidc-provider` that the tests use; the package has none. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface GrantContext {
    readonly oidc: { readonly body?: Readonly<Record<string, unknown>> };
  }

  export interface TokenModel {
    readonly prototype: { generateTokenId: () => string };
  }

  export default class Provider {
    readonly AccessToken: TokenModel;
    readonly AuthorizationCode: TokenModel;
    readonly ClientCredentials: TokenModel;
    readonly RefreshToken: TokenModel;

    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    on(event: 'grant.success' | 'grant.error', listener: (context: GrantContext) => void): this;
  }
}
