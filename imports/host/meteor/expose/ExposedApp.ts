/** The methods and publications that an app has exposed, as tools in a registry and as resources over MCP. */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { ToolCallContext } from '../../../business/ai/domain/interfaces/IToolExecutor';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { fieldsOf, jsonOrText } from '../../../business/ai/domain/util/json';
import { parseUrl } from '../../../business/ai/domain/util/parseUrl';
import { resolveSchema } from '../../../library/resolveSchema';
import { MethodTools, toToolName } from '../../../business/ai/infrastructure/tools/MethodTools';
import type { RegisteredTool, ToolRegistry } from '../../../business/ai/infrastructure/tools/ToolRegistry';
import type { McpResource, McpResourceCall, McpResources } from '../../../business/mcp/api/McpResources';
import { installedPackage } from '../installedPackage';
import type { MeteorApp } from '../MeteorPackages';
import type { ReadPackages } from '../readPackages';
import { assertAllUsed, chosen } from './exposeMethods';
import type { ExposedDetails, Exposure } from './exposeMethods';
import type { ParseModule } from './parseFunction';
import { Publications } from './Publications';
import type { DdpVariables } from './Publications';
import { readMethod } from './readMethod';
import type { ReadMethod } from './readMethod';
import { toPlain } from './toPlain';
import type { AnyFunction } from './variablesOf';

/** Meteor's own tables, which the published types leave out. */
interface MeteorTables {
  readonly method_handlers: Readonly<Record<string, AnyFunction>>;
  readonly publish_handlers: Readonly<Record<string, AnyFunction>>;
}

interface ExposedPublication {
  readonly name: string;
  readonly description: string;
  readonly toArguments: (given: JsonObject) => readonly unknown[];
  /** The JSON Schemas of its arguments, by name. */
  readonly properties: JsonObject;
  readonly isRequired: boolean;
}

const URI = 'meteor://publications/';

export class ExposedApp {
  /** By name. */
  private readonly tools = new Map<string, { readonly source: string; readonly tool: RegisteredTool }>();
  /** By name of the tool that reads it. */
  private readonly exposed = new Map<string, ExposedPublication>();
  private readonly packages: ReadPackages;
  private readonly acorn: ParseModule;

  /** @throws LLMInvalidRequestError for an exposure of what is not there, and for two tools of one name */
  static async open(packages: ReadPackages, exposures: readonly Exposure[]): Promise<ExposedApp> {
    const app = new ExposedApp(packages, await import('acorn'));
    for (const exposure of exposures) app.add(exposure);
    return app;
  }

  private constructor(packages: ReadPackages, acorn: ParseModule) {
    this.packages = packages;
    this.acorn = acorn;
  }

  get toolNames(): readonly string[] {
    return [...this.tools.keys()];
  }

  readonly resources: McpResources = {
    list: () => [...this.exposed].flatMap(([tool, publication]) => toResources(tool, publication)),
    find: (uri) => this.find(uri),
    watch: ({ tool, arguments: given }, userId, onUpdate) => {
      const publication = this.exposed.get(tool);
      if (publication === undefined) return () => undefined;
      return this.publications.watch(publication.name, publication.toArguments(given), userId, onUpdate);
    },
  };

  /** @throws LLMInvalidRequestError if the app has registered another tool of one of the names */
  registerTools(registry: ToolRegistry): void {
    for (const { source, tool } of this.tools.values()) {
      if (registry.get(tool.name) !== undefined)
        throw new LLMInvalidRequestError(
          `exposeMethods: the app has registered another tool named "${tool.name}". ${renaming(source)}`,
          { path: 'details' },
        );
      registry.register(tool);
    }
  }

  /** What is offered, for the log. */
  describe(): string {
    const approved = [...this.tools.values()].filter(({ tool }) => tool.needsApproval === true).length;
    const methods = this.tools.size - this.exposed.size;
    return `exposeMethods offers ${methods} methods, ${approved} of them with approval, and ${this.exposed.size} publications.`;
  }

  private add({ include, exclude, needsApproval, publications, details }: Exposure): void {
    const methodNames = Object.keys(this.handlers.methods);
    const publicationNames = Object.keys(this.handlers.publications);
    const names = [...methodNames, ...publicationNames];
    assertAllUsed('include', include, methodNames);
    assertAllUsed('publications', publications, publicationNames);
    assertAllUsed('exclude', exclude, names);
    const excluded = new Set(chosen(exclude, names));
    const methods = chosen(include, methodNames).filter((name) => !excluded.has(name));
    const published = chosen(publications, publicationNames).filter((name) => !excluded.has(name));
    assertAllUsed('needsApproval', needsApproval, methods);
    assertAllUsed('details', Object.keys(details), [...methods, ...published]);
    const approved = new Set(chosen(needsApproval, methods));
    for (const name of methods) this.addTool(name, this.methodTool(name, details[name] ?? {}, approved.has(name)));
    for (const name of published) {
      const { tool, publication } = this.publicationTool(name, details[name] ?? {});
      this.addTool(name, tool);
      this.exposed.set(tool.name, publication);
    }
  }

  private addTool(source: string, tool: RegisteredTool): void {
    const other = this.tools.get(tool.name);
    if (other?.source === source)
      throw new LLMInvalidRequestError(`exposeMethods: "${source}" is exposed twice. Name it in one call only.`, {
        path: 'include',
      });
    if (other !== undefined)
      throw new LLMInvalidRequestError(
        `exposeMethods: "${other.source}" and "${source}" would both be the tool "${tool.name}". ${renaming(source)}`,
        { path: 'details' },
      );
    this.tools.set(tool.name, { source, tool });
  }

  private methodTool(name: string, details: ExposedDetails, needsApproval: boolean): RegisteredTool {
    const { parameters, toArguments } = this.shapeOf(name, this.handlers.methods[name], details);
    const tool = this.methods.expose(name, {
      description: describe(parameters) ?? `Calls the method "${name}" of the app.`,
      ...details,
      parameters,
      toArguments,
      ...(needsApproval ? { needsApproval: true } : {}),
    });
    return { ...tool, execute: async (args: never, context) => toPlain(await tool.execute?.(args, context)) };
  }

  private publicationTool(
    name: string,
    { name: toolName = `read_${toToolName(name)}`.slice(0, 64), ...details }: ExposedDetails,
  ): { readonly tool: RegisteredTool; readonly publication: ExposedPublication } {
    const { parameters, toArguments } = this.shapeOf(name, this.handlers.publications[name], details);
    const schema = resolveSchema(parameters).jsonSchema;
    const description =
      details.description ??
      describe(parameters) ??
      `Reads what the publication "${name}" of the app publishes to the user, by collection.`;
    const required = schema['required'];
    return {
      tool: {
        ...details,
        name: toolName,
        description,
        parameters,
        idempotent: true,
        readOnly: true,
        execute: (args: never, { userId, signal }: ToolCallContext) =>
          this.publications.snapshot(name, toArguments(args), userId, signal),
      },
      publication: {
        ...{ name, description, toArguments },
        properties: fieldsOf(schema['properties']),
        isRequired: Array.isArray(required) && required.length > 0,
      },
    };
  }

  private shapeOf(name: string, handler: AnyFunction | undefined, details: ExposedDetails): ReadMethod {
    if (details.parameters !== undefined)
      return {
        parameters: details.parameters,
        toArguments: (details.toArguments as ReadMethod['toArguments'] | undefined) ?? ((given) => [given]),
      };
    const Match = this.packages.argumentChecks?.Match as Readonly<Record<string, unknown>> | undefined;
    const read = readMethod(name, handler as AnyFunction, { acorn: this.acorn, Match });
    return details.toArguments === undefined
      ? read
      : { ...read, toArguments: details.toArguments as ReadMethod['toArguments'] };
  }

  /** @returns undefined for the address of no publication, and for arguments that it has not */
  private find(uri: string): McpResourceCall | undefined {
    const parsed = uri.startsWith(URI) ? parseUrl(uri) : undefined;
    if (parsed === undefined) return undefined;
    const { pathname, searchParams } = parsed;
    const name = decodeURIComponent(pathname.slice(1));
    const [tool, publication] = [...this.exposed].find(([, each]) => each.name === name) ?? [];
    if (tool === undefined || publication === undefined) return undefined;
    const given = [...searchParams].map(
      ([key, text]) => [key, readArgument(text, publication.properties[key])] as const,
    );
    return given.every(([key]) => Object.hasOwn(publication.properties, key))
      ? { tool, arguments: Object.fromEntries(given) }
      : undefined;
  }

  /** Read anew, since an app defines methods at any time. @throws LLMInvalidRequestError on another Meteor */
  private get handlers(): {
    readonly methods: MeteorTables['method_handlers'];
    readonly publications: MeteorTables['publish_handlers'];
  } {
    const { server } = this.packages.Meteor as MeteorApp & { readonly server?: Partial<MeteorTables> };
    const { method_handlers: methods, publish_handlers: publications } = server ?? {};
    if (methods !== undefined && publications !== undefined) return { methods, publications };
    throw new LLMInvalidRequestError(
      'exposeMethods: this version of Meteor has no Meteor.server.method_handlers. Expose single methods with MethodTools instead.',
      { path: 'exposeMethods' },
    );
  }

  private get methods(): MethodTools {
    const { Meteor, DDPRateLimiter } = this.packages;
    return new MethodTools({ Meteor, DDP: this.variables, DDPRateLimiter });
  }

  private get publications(): Publications {
    const { Meteor, DDPRateLimiter, argumentChecks } = this.packages;
    return new Publications({
      ...{ Meteor, DDP: this.variables },
      Match: argumentChecks?.Match as Readonly<Record<string, unknown>> | undefined,
      DDPRateLimiter: DDPRateLimiter as object | undefined,
      handlerOf: (name) => this.handlers.publications[name],
    });
  }

  /** `import { DDP } from 'meteor/ddp'`, which every Meteor server has. */
  private get variables(): DdpVariables {
    const { DDP } = (installedPackage('ddp-client') ?? installedPackage('ddp') ?? {}) as {
      readonly DDP?: DdpVariables;
    };
    if (DDP !== undefined) return DDP;
    throw new LLMInvalidRequestError('exposeMethods needs the package ddp. Add it with: meteor add ddp', {
      path: 'exposeMethods',
    });
  }
}

function renaming(source: string): string {
  return `Name it otherwise: exposeMethods({ …, details: { '${source}': { name: '…' } } }).`;
}

function describe(parameters: unknown): string | undefined {
  const { description } = fieldsOf(parameters);
  return typeof description === 'string' && description !== '' ? description : undefined;
}

/** A publication that needs no arguments has an address; one that takes some has a template for addresses. */
function toResources(
  tool: string,
  { name, description, properties, isRequired }: ExposedPublication,
): readonly McpResource[] {
  const uri = URI + encodeURIComponent(name);
  // Other characters than these have a meaning in templates.
  const fields = Object.keys(properties).map(encodeURIComponent);
  return [
    ...(isRequired ? [] : [{ ...{ uri, name, description, tool }, isTemplate: false }]),
    ...(fields.length === 0
      ? []
      : [{ ...{ uri: `${uri}{?${fields.join(',')}}`, name, description, tool }, isTemplate: true }]),
  ];
}

/** An argument in an address is a text; of another type, its JSON. */
function readArgument(text: string, schema: unknown): unknown {
  const { type } = fieldsOf(schema);
  return type === 'string' ? text : jsonOrText(text);
}
