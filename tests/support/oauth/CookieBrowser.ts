/** A minimal browser with redirects, cookies and forms, whose steps tests can inspect. */

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const MAX_STEPS = 20;

export class CookieBrowser {
  private readonly cookies = new Map<string, string>();
  /** Sent with every request, e.g. to authenticate its user. */
  readonly headers: Record<string, string>;
  /** Every URL that was requested. */
  readonly visited: string[] = [];

  constructor(headers: Record<string, string> = {}) {
    this.headers = headers;
  }

  /** Follows redirects to the end, or up to the first URL that `stopAt` accepts, which is not requested. */
  async open(url: string, stopAt: (url: string) => boolean = () => false): Promise<Page> {
    return this.follow(url, { method: 'GET' }, stopAt);
  }

  async submit(page: Page, fields: Readonly<Record<string, string>>, stopAt?: (url: string) => boolean): Promise<Page> {
    const action = /<form[^>]*action="([^"]*)"/.exec(page.body)?.[1];
    if (action === undefined) throw new Error(`No form on ${page.url}:\n${page.body.slice(0, 500)}`);
    const hidden = [...page.body.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      attribute(input, 'name'),
      attribute(input, 'value'),
    ]);
    const body = new URLSearchParams([...hidden, ...Object.entries(fields)]);
    const target = new URL(decode(action), page.url);
    return this.follow(
      target.href,
      { method: 'POST', body, headers: { origin: new URL(page.url).origin, 'sec-fetch-site': 'same-origin' } },
      stopAt,
    );
  }

  /** Signs in and consents on the authorization server's pages. */
  async authorize(page: Page, login: string, stopAt?: (url: string) => boolean): Promise<Page> {
    let current = page;
    for (let step = 0; step < 3; step++) {
      if (/name="prompt" value="login"/.test(current.body))
        current = await this.submit(current, { login, password: 'any' }, stopAt);
      else if (/name="prompt" value="consent"/.test(current.body)) current = await this.submit(current, {}, stopAt);
    }
    return current;
  }

  cookieOf(host: string, name: string): string | undefined {
    return this.cookies.get(`${host} ${name}`);
  }

  setCookie(host: string, name: string, value: string): void {
    this.cookies.set(`${host} ${name}`, value);
  }

  private async follow(
    first: string,
    init: { method: string; body?: URLSearchParams; headers?: Record<string, string> },
    stopAt: ((url: string) => boolean) | undefined,
  ): Promise<Page> {
    let url = first;
    let request = init;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (stopAt?.(url) === true) return { url, status: 0, headers: new Headers(), body: '' };
      this.visited.push(url);
      const { host } = new URL(url);
      const cookie = [...this.cookies]
        .filter(([key]) => key.startsWith(`${host} `))
        .map(([key, value]) => `${key.slice(host.length + 1)}=${value}`);
      const headers = {
        ...this.headers,
        ...request.headers,
        ...(cookie.length === 0 ? {} : { cookie: cookie.join('; ') }),
      };
      const response = await fetch(url, { ...request, headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) this.take(host, line);
      const body = await response.text();
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null)
        return { url, status: response.status, headers: response.headers, body };
      url = new URL(location, url).href;
      request = { method: 'GET' };
    }
    throw new Error(`Too many redirects from ${first}.`);
  }

  private take(host: string, line: string): void {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) this.cookies.delete(`${host} ${name}`);
    else this.cookies.set(`${host} ${name}`, value);
  }
}

function attribute(tag: string, name: string): string {
  return decode(new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

function decode(text: string): string {
  return text.replace(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code))).replace(/&amp;/g, '&');
}
