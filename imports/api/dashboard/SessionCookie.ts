/** A cookie that no script can read and that no other host can set. */
import type { IncomingMessage } from 'node:http';

export interface SessionCookieOptions {
  readonly name: string;
  /** Browsers reach the server over https only. */
  readonly isSecure: boolean;
  /** With which requests that other sites cause the cookie is sent: none, or those that open a page. */
  readonly sameSite: 'Strict' | 'Lax';
  /** With which paths it is sent where browsers do not reach the server over https. Default: all. */
  readonly path?: string;
  /** What its values look like. Default: 32 bytes in base64url. */
  readonly pattern?: RegExp;
}

export class SessionCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly pattern: RegExp;

  constructor({ name, isSecure, sameSite, path = '/', pattern = /^[\w-]{43}$/ }: SessionCookieOptions) {
    this.pattern = pattern;
    // The prefix `__Host-` keeps sibling domains from setting the cookie. It requires https and the path `/`.
    this.name = isSecure ? `__Host-${name}` : name;
    this.attributes = `Path=${isSecure ? '/' : path}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
  }

  /** @returns the `set-cookie` header */
  set(value: string, seconds: number): string {
    return `${this.name}=${value}; Max-Age=${seconds}; ${this.attributes}`;
  }

  /** @returns the `set-cookie` header that deletes the cookie */
  clear(): string {
    return this.set('', 0);
  }

  /** If there are several, someone else has set one, so none is accepted. */
  read({ headers: { cookie = '' } }: Pick<IncomingMessage, 'headers'>): string | undefined {
    const start = `${this.name}=`;
    const values = cookie
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(start))
      .map((pair) => pair.slice(start.length));
    return values.length === 1 && this.pattern.test(values[0] ?? '') ? values[0] : undefined;
  }
}
