/** The part of `oidc-provider` that the tests use; the package brings no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface GrantContext {
    readonly oidc: { readonly body?: Readonly<Record<string, unknown>> };
  }

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    on(event: 'grant.success' | 'grant.error', listener: (context: GrantContext) => void): this;
  }
}
