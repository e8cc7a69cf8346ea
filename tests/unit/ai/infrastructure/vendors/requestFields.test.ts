/** The fields of requests that are known, against the types of the vendors' SDKs. */
import { expect } from 'chai';
import type { MessageCreateParams as BetaMessageCreateParams } from '@anthropic-ai/sdk/resources/beta/messages';
import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';
import { expectTypeOf } from 'expect-type';
import type { ChatCompletionCreateParams as GroqChatParams } from 'groq-sdk/resources/chat/completions';
import type { TranscriptionCreateParams as GroqTranscriptionParams } from 'groq-sdk/resources/audio';
import type { SpeechCreateParams, TranscriptionCreateParams, TranslationCreateParams } from 'openai/resources/audio';
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import type { ImageCreateVariationParams, ImageEditParams, ImageGenerateParams } from 'openai/resources/images';
import type { ModerationCreateParams } from 'openai/resources/moderations';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { findNamedModels } from '../../../../../imports/business/ai/infrastructure/vendors/modelFields';
import { REQUEST_FIELDS } from '../../../../../imports/business/ai/infrastructure/vendors/requestFields';

type Known = { [Form in keyof typeof REQUEST_FIELDS]: (typeof REQUEST_FIELDS)[Form][number] };
/** Fields of the SDK's own that are headers on the wire. */
type Headers = 'betas';
type Missing<Params, Fields> = Params extends unknown ? Exclude<keyof Params, Fields | Headers> : never;
type Media =
  | ImageGenerateParams
  | ImageEditParams
  | ImageCreateVariationParams
  | SpeechCreateParams
  | TranscriptionCreateParams
  | TranslationCreateParams
  | ModerationCreateParams
  | EmbeddingCreateParams
  | GroqTranscriptionParams;

// Nothing of these runs: the compiler checks that each list is complete.
expectTypeOf<Missing<ResponseCreateParams, Known['responses']>>().toEqualTypeOf<never>();
expectTypeOf<Missing<ChatCompletionCreateParams | GroqChatParams, Known['chat_completions']>>().toEqualTypeOf<never>();
expectTypeOf<
  Missing<MessageCreateParams | BetaMessageCreateParams, Known['anthropic_messages']>
>().toEqualTypeOf<never>();
expectTypeOf<Missing<Media, Known['media']>>().toEqualTypeOf<never>();

describe('The known fields of requests', () => {
  it('name no model unless they hold one', () => {
    for (const form of Object.keys(REQUEST_FIELDS) as (keyof typeof REQUEST_FIELDS)[]) {
      const request = Object.fromEntries(REQUEST_FIELDS[form].map((field) => [field, { a: [{ b: 'text' }] }]));
      const paths = findNamedModels([form], request).map(({ path }) => path.replace(/[.[].*/, ''));
      expect(paths, form).to.have.members(['fallbacks', 'agent'].filter((field) => field in request));
    }
  });

  it('name models with a long s, which hosts that are written in Go take for an s', () => {
    const tools = [{ type: 'function', 'model\u017f': ['another'] }];
    expect(findNamedModels(['chat_completions'], { tools })).to.deep.equal([
      { name: 'another', path: 'tools[0].model\u017f[0]' },
    ]);
  });

  it('hold no models in what people, models and schemas say', () => {
    const content = { model: 'another', models: ['another'], properties: { model: { type: 'string' } } };
    const tools = [{ type: 'function', name: 'f', parameters: content, function: { parameters: content } }];
    expect(
      findNamedModels(['chat_completions'], {
        messages: [content],
        metadata: content,
        response_format: content,
        tools,
      }),
    ).to.deep.equal([]);
    expect(findNamedModels(['responses'], { input: [content], text: { format: { schema: content } } })).to.deep.equal(
      [],
    );
    const google = { functionDeclarations: [{ parametersJsonSchema: content, responseSchema: content }] };
    expect(
      findNamedModels(['gemini'], { contents: [content], systemInstruction: content, tools: [google] }),
    ).to.deep.equal([]);
  });
});
