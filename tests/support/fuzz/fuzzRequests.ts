/** Random and mutated requests over every route that an OpenAPI document describes, and over paths that none has. */

export interface FuzzRoute {
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  /** Examples of bodies. */
  readonly examples: readonly unknown[];
}

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> };
          }
        >
      >
    >
  >;
}

/** Routes of the server's own pages, which the document leaves out. */
const PAGES: readonly (readonly [method: string, path: string])[] = [
  ['get', '/'],
  ['get', '/dashboard/{file}'],
  ['post', '/api/session'],
  ['delete', '/api/session'],
  ['get', '/oauth/{provider}/start'],
  ['post', '/oauth/{provider}/start'],
  ['get', '/oauth/callback'],
  ['post', '/oauth/callback'],
  ['get', '/{anything}'],
];

export function routesOf(document: OpenApi): readonly FuzzRoute[] {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method,
      path,
      examples: Object.values(requestBody?.content ?? {}).flatMap(({ example }) => example ?? []),
    })),
  );
  return [...described, ...PAGES.map(([method, path]) => ({ method, path, examples: [] }))];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];
const TEXTS = ['', ' ', 'a', '\0', '\u202e', '😀', '\ud800', '"', "'; --", '${x}', '../..', '%', 'NaN', '__proto__'];
const NAMES = ['__proto__', 'constructor', 'id', 'type', 'role', '$where', 'a.b', '', 'length', 'toString', 'then'];
const NUMBERS = [0, -0, -1, 1, 0.5, 1e21, -1e308, 2 ** 31, 2 ** 53, 5e-324];
const CONTENT_TYPES = ['text/plain', 'application/json; charset=latin1', 'multipart/form-data; boundary=b', '', 'x'];

export class FuzzRequests {
  private readonly routes: readonly FuzzRoute[];
  private readonly tokens: () => readonly string[];
  private readonly models: readonly string[];
  /** No request names another address. */
  private readonly address: string;
  private readonly random: () => number;

  constructor(
    routes: readonly FuzzRoute[],
    options: {
      readonly tokens: () => readonly string[];
      readonly models: readonly string[];
      readonly address: string;
      readonly random: () => number;
    },
  ) {
    this.routes = routes;
    ({ tokens: this.tokens, models: this.models, address: this.address, random: this.random } = options);
  }

  next(): FuzzRequest {
    const route = this.pick(this.routes);
    const method = this.chance(0.03) ? this.pick(METHODS) : route.method;
    const path = this.pathOf(route.path);
    const hasBody = method !== 'get' && method !== 'head' && (route.examples.length > 0 || this.chance(0.3));
    const body = hasBody ? this.bodyOf(route) : undefined;
    return { method: method.toUpperCase(), path, headers: this.headers(body), body };
  }

  /** A message for a WebSocket. */
  frame(): string | Buffer {
    const route =
      this.routes.find(({ path }) => path === '/v1/responses' && this.chance(0.9)) ?? this.pick(this.routes);
    const example = this.pick(route.examples.length === 0 ? [{}] : route.examples);
    const fields = typeof example === 'object' && example !== null ? example : {};
    const body = this.serialize(this.mutate({ type: 'response.create', ...fields }, 0));
    return this.chance(0.1) ? body : body.toString('latin1');
  }

  private headers(body: Buffer | undefined): Readonly<Record<string, string>> {
    const token = this.chance(0.9) ? this.pick(this.tokens()) : this.pick(['', 'x', 'sk-unknown', 'Bearer']);
    const name = this.pick(['authorization', 'authorization', 'x-api-key', 'x-goog-api-key', 'api-key']);
    const type = this.chance(0.95) ? 'application/json' : this.pick(CONTENT_TYPES);
    return {
      [name]: name === 'authorization' ? `Bearer ${token}` : token,
      ...(body === undefined ? {} : { 'content-type': type }),
      ...(this.chance(0.02) ? { 'last-event-id': this.pick(['0', '-1', 'x', '99999999999999999999']) } : {}),
      ...(this.chance(0.02) ? { 'x-bolide-cache': this.pick(['true', '60', '-1', 'x', 'max-age=1e9']) } : {}),
      ...(this.chance(0.02) ? { 'anthropic-version': '2023-06-01', 'user-agent': 'Anthropic/JS' } : {}),
    };
  }

  private pathOf(template: string): string {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === 'model' ? this.pick(this.models) : this.word()),
    );
    const query = this.chance(0.2)
      ? `?${this.pick(['limit', 'after', 'order', 'stream', 'conversation', 'cursor', 'alt', 'state', 'from', 'filter', 'executionId'])}=${encodeURIComponent(this.word())}`
      : '';
    if (!this.chance(0.03)) return path + query;
    const at = Math.floor(this.random() * path.length);
    return `/${path.slice(1, at)}${this.pick(['%', '//', '/../', '%00', ';', '%2f', '*'])}${path.slice(at)}${query}`.replace(
      /\s/g,
      '',
    );
  }

  private word(): string {
    const text = this.pick([...TEXTS.filter((each) => each.isWellFormed()), '1', '-1', '100', 'asc', 'desc', 'true']);
    return this.chance(0.3) ? this.pick(['resp_1', 'run_1', 'conv_1', 'file-1', 'openai', 'x'.repeat(300)]) : text;
  }

  private bodyOf({ examples }: FuzzRoute): Buffer {
    const example = examples.length === 0 ? {} : this.pick(examples);
    return this.serialize(this.chance(0.15) ? example : this.mutate(example, 0));
  }

  private serialize(value: unknown): Buffer {
    const text = JSON.stringify(value).replace(/https?:\/\/[^"\\\s]+/g, this.address);
    const bytes = Buffer.from(text);
    if (this.chance(0.95)) return bytes;
    // Broken JSON, or broken UTF-8.
    for (let count = 0; count < 3 && bytes.length > 0; count += 1)
      bytes[Math.floor(this.random() * bytes.length)] = Math.floor(this.random() * 256);
    return bytes.subarray(0, Math.ceil(bytes.length * (this.chance(0.5) ? 1 : this.random())));
  }

  /** A copy in which about one value is different. */
  private mutate(value: unknown, depth: number): unknown {
    if (this.chance(depth === 0 ? 0.02 : 0.12)) return this.value(0);
    if (Array.isArray(value)) {
      const list = value.map((entry) => (this.chance(0.5) ? this.mutate(entry, depth + 1) : (entry as unknown)));
      if (this.chance(0.1)) list.push(...list, this.value(0));
      if (this.chance(0.002)) return Array.from({ length: 5_000 }, () => list[0] ?? this.value(2));
      return list;
    }
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value)
        .filter(() => !this.chance(0.05))
        .map(([name, entry]): [string, unknown] => [
          name,
          name === 'model' && this.chance(0.8)
            ? this.pick(this.models)
            : this.chance(0.4)
              ? this.mutate(entry, depth + 1)
              : entry,
        ]);
      if (this.chance(0.1)) entries.push([this.pick(NAMES), this.value(0)]);
      if (this.chance(0.05)) entries.push(['stream', this.chance(0.8)]);
      return Object.fromEntries(entries);
    }
    return value;
  }

  private value(depth: number): unknown {
    switch (Math.floor(this.random() * (depth > 3 ? 6 : 9))) {
      case 0:
        return null;
      case 1:
        return this.chance(0.5);
      case 2:
        return this.pick(NUMBERS);
      case 3:
        return this.pick(TEXTS);
      case 4:
        return this.chance(0.05) ? this.pick(TEXTS).repeat(100_000) : this.pick(NAMES);
      case 5:
        return this.pick(this.models);
      case 6:
        return Array.from({ length: Math.floor(this.random() * 4) }, () => this.value(depth + 1));
      case 7: {
        let nested: unknown = this.value(4);
        for (let level = 0; level < this.random() * 80; level += 1)
          nested = this.chance(0.5) ? [nested] : { a: nested };
        return nested;
      }
      default:
        return Object.fromEntries(
          Array.from({ length: Math.floor(this.random() * 4) }, () => [this.pick(NAMES), this.value(depth + 1)]),
        );
    }
  }

  private pick<T>(list: readonly T[]): T {
    // An index within the list.
    return list[Math.floor(this.random() * list.length)] as T;
  }

  private chance(probability: number): boolean {
    return this.random() < probability;
  }
}
