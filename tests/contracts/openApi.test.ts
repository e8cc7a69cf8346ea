/** The OpenAPI document: valid, complete, and true of the routes that it describes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { CONVERSATION_ROUTES } from '../../imports/api/openapi/descriptions/conversationRoutes';
import { GATEWAY_ROUTES } from '../../imports/api/openapi/descriptions/gatewayRoutes';
import { RUN_ROUTES } from '../../imports/api/openapi/descriptions/runRoutes';
import { SERVER_ROUTES } from '../../imports/api/openapi/descriptions/serverRoutes';
import type { RunningServer } from '../../imports/host/node/startServer';
import { OPERATIONS } from '../../imports/host/operations';
import { routesOf as routesOfOperation } from '../../imports/host/defineOperation';
import { routesOf } from '../../scripts/generate/routesOf';
import { startStandalone } from '../support/startStandalone';

type Schema = Readonly<Record<string, unknown>>;

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const ADMIN_TOKEN = 'the-token-of-the-admin-user';
const JSON_TYPE = 'application/json';

/** The page and session of the dashboard, and pages of OAuth, are no API. */
const PAGES = /^\w+ \/(?:$|dashboard\/|favicon|api\/session$|oauth\/)/;
/** The document has a path for one of the methods, since a template may exist only once. */
const TEMPLATES: Readonly<Record<string, string>> = {
  '/v1beta/models/:model::method': '/v1beta/models/{model}:embedContent',
};

const templateOf = (path: string): string =>
  TEMPLATES[path] ?? path.replace(/:(\w+)/g, '{$1}').replace(/\}\{(countTokens)\}/, '}:$1');

describe('The OpenAPI document', () => {
  let server: RunningServer;
  let document: OpenApi;
  let readerToken: string;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addFormat('media-range', true);

  before(async () => {
    server = await startStandalone({ BOLIDE_API_TOKEN: ADMIN_TOKEN, MCP_TOOLS: '*' });
    const response = await fetch(`${server.url}/openapi.json`);
    expect(response.status).to.equal(200);
    document = (await response.json()) as OpenApi;
    ({ token: readerToken } = await server.host.apiTokens.tokens.issue({
      userId: 'ann',
      name: 'reader',
      scopes: ['read'],
    }));
  });
  after(() => server.close());

  interface Described {
    readonly path: string;
    readonly method: string;
    readonly operation: Operation;
  }

  const operations = (): readonly Described[] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );

  const request = (path: string, method: string, token?: string, body?: unknown): Promise<Response> =>
    fetch(server.url + path.replace('{verb}', 'generateContent').replace(/\{\w+\}/g, 'nothing'), {
      method: method.toUpperCase(),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(method === 'post' ? { 'content-type': JSON_TYPE } : {}),
      },
      ...(method === 'post' ? { body: JSON.stringify(body ?? {}) } : {}),
    });

  /** What is wrong with a value by a schema of the document. */
  function problemsOf(schema: Schema | undefined, value: unknown): readonly string[] {
    const validate = ajv.compile({ ...schema, components: document.components });
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }

  it('is valid OpenAPI 3.1', () => {
    const file = join(__dirname, '../fixtures/schemas/openapi/openapi-3.1.schema.json');
    const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);
    validate(document);
    expect(validate.errors ?? []).to.deep.equal([]);
  });

  it('has every route of the API, and no other', () => {
    const registered = routesOf(server.host.api.router)
      .filter((route) => !PAGES.test(route))
      .map((route) => {
        const [method = '', path = ''] = route.split(' ');
        return `${method} ${templateOf(path)}`;
      });
    const listed = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(listed.toSorted()).to.deep.equal([...new Set(registered)].toSorted());
  });

  it('describes each route, and nothing that does not exist', () => {
    const undescribed = operations().filter(({ operation }) => operation.tags.includes('Other'));
    expect(undescribed.map(({ operation }) => operation.summary)).to.deep.equal([]);
    const tables = [GATEWAY_ROUTES, CONVERSATION_ROUTES, RUN_ROUTES, SERVER_ROUTES];
    const defined = OPERATIONS.flatMap(routesOfOperation).map(({ address }) => address);
    const descriptions = [...tables.flatMap(Object.keys), ...defined];
    expect(descriptions).to.have.length(operations().length);
    expect(new Set(descriptions).size).to.equal(descriptions.length);
  });

  it('names each operation and each parameter in a path once', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { path, operation } of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(
        inPath.map(({ name }) => name),
        path,
      ).to.deep.equal(named);
    }
    const templates = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(new Set(templates).size).to.equal(templates.length);
  });

  it('states which routes need a token, and the form of the refusal', async () => {
    for (const { path, method, operation } of operations()) {
      const response = await request(path, method);
      const name = `${method} ${path}`;
      if (operation.security.length === 0) {
        expect(response.status, name).to.equal(200);
        continue;
      }
      expect(response.status, name).to.equal(401);
      const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(operation.responses.default?.content ?? {});
      expect(response.headers.get('content-type'), name).to.include(type);
      const body: unknown = type === JSON_TYPE ? await response.json() : await response.text();
      expect(problemsOf(schema, body), name).to.deep.equal([]);
    }
  });

  it('states the scope that a token needs', async () => {
    for (const { path, method, operation } of operations()) {
      const scopes = new Set(operation.security.flatMap((requirement) => Object.values(requirement).flat()));
      expect(scopes.size).to.be.at.most(1);
      if (scopes.has('read') || scopes.size === 0) continue;
      expect((await request(path, method, readerToken)).status, `${method} ${path}`).to.equal(403);
    }
  });

  it('has examples that its schemas and the server accept', async () => {
    const examples = operations().flatMap(({ path, method, operation }) => {
      const { schema, example } = operation.requestBody?.content?.[JSON_TYPE] ?? {};
      return example === undefined ? [] : [{ path, method, operation, schema, example }];
    });
    expect(examples).to.have.length.above(10);
    for (const { path, method, operation, schema, example } of examples) {
      expect(problemsOf(schema, example), path).to.deep.equal([]);
      const target = path.replace('{model}', 'openai').replace('{deployment}', 'openai');
      const response = await request(target, method, ADMIN_TOKEN, example);
      const body: unknown = await response.json();
      const result = operation.responses[String(response.status)];
      expect(result, `${path}: ${JSON.stringify(body)}`).to.not.equal(undefined);
      expect(problemsOf(result?.content?.[JSON_TYPE]?.schema, body), path).to.deep.equal([]);
    }
  });

  it('describes the results of reading', async () => {
    const readable = operations().filter(
      ({ path, method, operation }) =>
        method === 'get' &&
        !path.includes('{') &&
        operation.responses['200']?.content?.[JSON_TYPE] !== undefined &&
        !(operation.parameters ?? []).some(({ required }) => required === true),
    );
    expect(readable).to.have.length.above(12);
    for (const { path, operation } of readable) {
      const response = await request(path, 'get', ADMIN_TOKEN);
      const body: unknown = await response.json();
      expect(response.status, `${path}: ${JSON.stringify(body)}`).to.equal(200);
      expect(problemsOf(operation.responses['200']?.content?.[JSON_TYPE]?.schema, body), path).to.deep.equal([]);
    }
  });

  it('names the path at which the API is mounted', () => {
    expect(document.servers).to.deep.equal([{ url: '/' }]);
  });
});
