/** `beta.responses`, the lists of input items, and `models` of OpenAI's SDK. */
import { expect } from 'chai';
import OpenAI from 'openai';
import { failure } from '../failure';
import { openaiOf } from './openaiChatCases';
import { createOne } from './openaiResponsesCases';
import type { SdkCases, SdkContext } from './SdkCase';

/** The same routes with `?beta=true`. */
export const OPENAI_BETA_CASES: SdkCases = {
  'beta.responses.create': {
    'is answered as responses.create is': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Hello.' });
      const { responses } = openaiOf(context).beta;
      const created = await responses.create({ model: context.model, input: 'Hello?' });
      expect(JSON.stringify(created.output)).to.include('Hello.');
      context.gateway.simulator.enqueue({ text: 'Hello again.' });
      const stream = await responses.create({ model: context.model, input: 'Hello?', stream: true });
      let text = '';
      for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
      expect(text).to.equal('Hello again.');
    },
  },
  'beta.responses.retrieve': {
    'returns what was created': async (context) => {
      const { id, output } = await createOne(context);
      const read = await openaiOf(context).beta.responses.retrieve(id);
      expect(JSON.parse(JSON.stringify(read.output))).to.deep.equal(output);
    },
  },
  'beta.responses.delete': {
    'removes a response': async (context) => {
      const { responses } = openaiOf(context).beta;
      const { id } = await createOne(context);
      await responses.delete(id);
      expect(await failure(responses.retrieve(id))).to.be.instanceOf(OpenAI.NotFoundError);
    },
  },
  'beta.responses.cancel': {
    'refuses a response that is complete': async (context) => {
      const { id } = await createOne(context);
      const outcome = await openaiOf(context)
        .beta.responses.cancel(id)
        .then(
          ({ status }) => status,
          (error: unknown) => error,
        );
      if (outcome !== 'completed') expect(outcome).to.be.instanceOf(OpenAI.BadRequestError);
    },
  },
  'beta.responses.compact': {
    'shortens a conversation': async (context) => {
      context.gateway.simulator.enqueue(() => ({ text: 'They greeted each other.' }));
      const compacted = await openaiOf(context).beta.responses.compact({
        model: context.model,
        input: 'Hello?',
      });
      expect(compacted.object).to.equal('response.compaction');
    },
  },
  'beta.responses.inputTokens.count': {
    'counts a request': async (context) => {
      const { input_tokens } = await openaiOf(context).beta.responses.inputTokens.count({
        model: context.model,
        input: 'How many tokens are these, more or less?',
      });
      expect(input_tokens).to.be.within(5, 40);
    },
  },
};

export const OPENAI_ITEMS_CASES: SdkCases = Object.fromEntries(
  (['responses', 'beta.responses'] as const).map((name) => [
    `${name}.inputItems.list`,
    {
      'lists what was sent': async (context: SdkContext) => {
        const { id } = await createOne(context);
        const client = openaiOf(context);
        const { inputItems } = name === 'responses' ? client.responses : client.beta.responses;
        const items: string[] = [];
        for await (const item of inputItems.list(id)) items.push(JSON.stringify(item));
        expect(items).to.have.length(1);
        expect(items[0]).to.include('Hello?');
      },
    },
  ]),
);

export const OPENAI_MODELS_CASES: SdkCases = {
  'models.list': {
    'lists the vendor’s models': async (context) => {
      const ids: string[] = [];
      for await (const { id } of openaiOf(context).models.list()) ids.push(id);
      expect(ids.some((id) => id.startsWith(`${context.vendor}/`))).to.equal(true);
    },
  },
  'models.retrieve': {
    'finds every name that works in a request': async (context) => {
      const { models } = openaiOf(context);
      for (const name of [context.model, context.vendor])
        expect(await models.retrieve(name)).to.include({ object: 'model', id: name });
      expect(await failure(models.retrieve('nothing'))).to.be.instanceOf(OpenAI.NotFoundError);
    },
  },
};
