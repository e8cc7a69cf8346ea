/** Decorates everything around the router: a `model` that is the name of a routing rule becomes the rule's targets. */
import { EventStream } from '../../../domain/events/EventStream';
import { unknownModel } from '../../../domain/errors/unknownModel';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { GenerateOptions, RouteDefaults, SelectedRoute } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { WireName } from '../../../domain/types/VendorTypes';
import type { ModelRouting } from './ModelRouting';

export class RoutedProvider extends ProviderDecorator {
  private readonly routing: ModelRouting;

  constructor(provider: ILLMProvider, routing: ModelRouting) {
    super(provider);
    this.routing = routing;
  }

  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return this.namesNoRule(options) ? this.provider.generate(userId, options) : this.routedCall(userId, options);
  }

  private async routedCall(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    if (this.mayNameRule(options)) await this.routing.rules.refresh();
    return this.provider.generate(userId, this.routed(userId, options, false));
  }

  stream(userId: string, options: GenerateOptions): EventStream {
    return EventStream.opening(async () => {
      if (this.mayNameRule(options)) await this.routing.rules.refresh();
      return EventStream.of(this.provider.stream(userId, this.routed(userId, options, true)));
    });
  }

  /** Only the first target is called: another model's vectors cannot be compared. */
  override async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    await this.routing.rules.refresh();
    const rule = options.model === undefined ? undefined : this.routing.rules.find(options.model);
    const [first] = rule === undefined ? [] : this.routing.usableTargets(rule);
    if (rule !== undefined && first === undefined) throw unknownModel(rule.name);
    return super.embed(userId, first === undefined ? options : { ...options, model: first.model });
  }

  override getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    const rule = this.routing.rules.find(model);
    if (rule === undefined) return this.provider.getCapabilities(model, wire);
    const capabilities = this.routing.capabilitiesOf(rule.targets, wire);
    if (capabilities === undefined) throw unknownModel(model);
    return capabilities;
  }

  private namesNoRule(options: GenerateOptions): boolean {
    const { model, route } = options;
    if (route !== undefined || this.mayNameRule(options)) return false;
    return model === undefined || this.routing.rules.find(model) === undefined;
  }

  /** Whether the rules have to be read before the call. */
  private mayNameRule({ model, route }: GenerateOptions): boolean {
    return route === undefined && model !== undefined && !model.includes('/') && !this.routing.rules.isFresh;
  }

  /** The request to the first target. Returns the same object for a model that is no rule. */
  private routed(userId: string, options: GenerateOptions, isStream: boolean): GenerateOptions {
    const { model, routeTargets, route = this.select(userId, options, isStream), ...fields } = options;
    const [first] = route?.targets ?? [];
    if (route === undefined || first === undefined) return options;
    return { ...withDefaults(fields, route.defaults), model: first, route };
  }

  private select(userId: string, options: GenerateOptions, isStream: boolean): SelectedRoute | undefined {
    const { model, routeTargets } = options;
    const rule = model === undefined ? undefined : this.routing.rules.find(model);
    if (rule === undefined) return undefined;
    return this.routing.select(rule, {
      userId,
      options,
      isStream,
      permits: routeTargets === undefined ? undefined : (target) => routeTargets.includes(target.model),
    });
  }
}

/** What the request itself sets wins, in whatever form it sets it. */
function withDefaults<O extends Omit<GenerateOptions, 'model'>>(options: O, defaults: RouteDefaults = {}): O {
  const { reasoning, instructions, prompt, ...others } = defaults;
  const set = Object.fromEntries(Object.entries<unknown>(options).filter(([, value]) => value !== undefined));
  return {
    ...others,
    ...(reasoning === undefined || setsReasoning(options) ? {} : { reasoning }),
    ...(instructions === undefined || setsInstructions(options) ? {} : { instructions }),
    // A user's own prompt of this name is not what the rule means.
    ...(prompt === undefined || setsInstructions(options) ? {} : { prompt: { ...prompt, shared: true } }),
    ...set,
  } as O;
}

/** Fields in which the vendors' own APIs set how much a model reasons. */
const REASONING_FIELDS = ['thinking', 'output_config', 'thinkingConfig', 'reasoning', 'reasoning_effort'];

function setsReasoning({ vendor = {} }: Pick<GenerateOptions, 'vendor'>): boolean {
  const fields = Object.values(vendor).flatMap((each) => [each, fieldsOf(each['generationConfig'])]);
  return fields.some((each) => REASONING_FIELDS.some((name) => name in each));
}

/** Some clients send their instructions as messages. */
function setsInstructions({ input }: Pick<GenerateOptions, 'input'>): boolean {
  return (
    isList(input) && input.some((item) => isObject(item) && (item['role'] === 'system' || item['role'] === 'developer'))
  );
}
