import { expect } from 'chai';
import { ConflictError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { toDatabaseError } from '../../../imports/database/databaseErrors';

describe('toDatabaseError', () => {
  const named = (name: string, message = 'secret detail', code?: unknown): Error =>
    Object.assign(new Error(message), { name, code });

  for (const [what, cause, code] of [
    ['a duplicate key', named('MongoServerError', 'dup key: { token: "secret detail" }', 11000), 'conflict'],
    [
      'a duplicate key as Meteor reports it',
      named('Error', '[An error occurred when creating an index for collection "x: E11000 duplicate key]'),
      'conflict',
    ],
    [
      'an index with other options as Meteor reports it',
      named('Error', '[… An equivalent index already exists with the same name but different options]'),
      'invalid-request',
    ],
    ['an index with other options', named('MongoServerError', 'secret detail', 85), 'invalid-request'],
    ['a path that cannot be created', named('MongoServerError', 'secret detail', 28), 'invalid-request'],
    ['a document that is too large', named('MongoServerError', 'secret detail', 10334), 'invalid-request'],
    ['a query that took too long', named('MongoServerError', 'secret detail', 50), 'timeout'],
    ['a socket that took too long', named('MongoNetworkTimeoutError'), 'timeout'],
    ['a lost connection', named('MongoNetworkError'), 'connection-failed'],
    ['a server that is no longer the primary', named('MongoServerError', 'secret detail', 10107), 'connection-failed'],
    ['a server that shuts down', named('MongoServerError', 'secret detail', 91), 'connection-failed'],
    ['no server', named('MongoServerSelectionError'), 'connection-failed'],
    ['a string as the code', named('Error', 'secret detail', 'ECONNRESET'), 'vendor-error'],
    ['anything else', named('MongoServerError', 'secret detail', 8000), 'vendor-error'],
    ['a value that is not an error', 'secret detail', 'vendor-error'],
  ] as const) {
    it(`maps ${what} to ${code}, names the collection, and does not include the cause in the message`, () => {
      const error = toDatabaseError(cause, 'runs');
      expect(error.code).to.equal(code);
      expect(error.message).to.include('runs').and.not.include('secret');
      expect(error.cause).to.equal(cause);
    });
  }

  for (const code of [10334, 17419])
    it(`names the size limit for the error ${code}`, () => {
      const cause = Object.assign(new Error('secret detail'), { code });
      const error = toDatabaseError(cause, 'ai_runs');
      expect(error.code).to.equal('invalid-request');
      expect(error.message).to.equal('A document of ai_runs is larger than the database allows (16 MiB).');
    });

  it('returns LLMErrors unchanged', () => {
    const own = new ConflictError('mine');
    expect(toDatabaseError(own, 'runs')).to.equal(own);
  });
});
