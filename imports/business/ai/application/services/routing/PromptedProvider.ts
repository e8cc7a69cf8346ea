/** Decorates the calls behind routing rules: a `prompt` becomes the texts and settings saved under its name. */
import { EventStream } from '../../../domain/events/EventStream';
import { noEmbeddings, noRelay } from '../../../domain/errors/noEmbeddings';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { PromptSource, ResolvedPrompt } from '../../../domain/interfaces/PromptSource';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { applyPrompt } from '../shared/applyPrompt';

export class PromptedProvider extends ProviderDecorator {
  private readonly prompts: PromptSource | undefined;

  constructor(provider: ILLMProvider, prompts: PromptSource | undefined) {
    super(provider);
    this.prompts = prompts;
  }

  async generate(userId: string, request: GenerateOptions): Promise<LLMResponse> {
    if (request.prompt === undefined) return this.provider.generate(userId, request);
    const { options, prompt } = await applyPrompt(this.prompts, userId, request);
    return withPrompt(await this.provider.generate(userId, options), prompt);
  }

  stream(userId: string, request: GenerateOptions): EventStream {
    if (request.prompt === undefined) return EventStream.of(this.provider.stream(userId, request));
    return EventStream.opening(async () => {
      const { options, prompt } = await applyPrompt(this.prompts, userId, request);
      return EventStream.of(this.provider.stream(userId, options)).through({
        push: (event, out) => {
          out.push(
            event.type === 'response.completed' ? { ...event, response: withPrompt(event.response, prompt) } : event,
          );
        },
      });
    });
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    return this.provider.embed(userId, options);
  }

  async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    return this.provider.relay(userId, request);
  }
}

function withPrompt(response: LLMResponse, prompt: Pick<ResolvedPrompt, 'name' | 'version'> | undefined): LLMResponse {
  return prompt === undefined ? response : { ...response, vendor: { ...response.vendor, prompt } };
}
