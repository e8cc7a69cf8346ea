/** How the next page of a vendor's list is asked for: one that is asked for twice shows the same objects for ever. */
import { expect } from 'chai';
import {
  ANTHROPIC_FILES,
  MESSAGE_BATCHES,
  OPENAI_BATCHES,
  OPENAI_FILES,
} from '../../../../../imports/api/gateway/relay/VendorCollection';
import type { VendorCollection } from '../../../../../imports/api/gateway/relay/VendorCollection';

const DATA = [{ id: 'a' }, { id: 'x' }, { id: 'b' }];
const MORE = { data: DATA, has_more: true };
const IDS = { ...MORE, first_id: 'a', last_id: 'b' };

type Query = Readonly<Record<string, string>>;

const TABLE: readonly (readonly [
  what: string,
  collection: VendorCollection,
  page: object,
  query: Query,
  next: Query | undefined,
])[] = [
  ['OpenAI’s files, after the last one', OPENAI_FILES, MORE, {}, { after: 'b' }],
  ['OpenAI’s files, at the end', OPENAI_FILES, { ...MORE, has_more: false }, {}, undefined],
  ['OpenAI’s batches, without an object', OPENAI_BATCHES, { ...MORE, data: [] }, {}, undefined],
  ['Anthropic’s files, with a token', ANTHROPIC_FILES, { data: DATA, next_page: 'n' }, { page: 'm' }, { page: 'n' }],
  ['Anthropic’s files, at the end', ANTHROPIC_FILES, { data: DATA, next_page: null }, { page: 'n' }, undefined],
  ['Anthropic’s files, after the last one', ANTHROPIC_FILES, IDS, {}, { after_id: 'b' }],
  ['Anthropic’s batches, after the last one', MESSAGE_BATCHES, IDS, { after_id: 'x' }, { after_id: 'b' }],
  ['Anthropic’s batches, before the first one', MESSAGE_BATCHES, IDS, { before_id: 'c' }, { before_id: 'a' }],
  ['Anthropic’s batches, at the end', MESSAGE_BATCHES, { ...IDS, has_more: false }, {}, undefined],
];

describe('The next page', () => {
  for (const [what, { nextPage }, page, query, next] of TABLE)
    it(`is that of ${what}`, () => {
      expect(nextPage({ ...page }, query)).to.deep.equal(next);
    });
});
