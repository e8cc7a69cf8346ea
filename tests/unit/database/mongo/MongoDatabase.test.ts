import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import {
  LLMConnectionError,
  LLMInvalidRequestError,
  StoreUnavailableError,
} from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { DocumentDatabase } from '../../../../imports/database/DocumentDatabase';
import { openMongoDatabase } from '../../../../imports/database/mongo/MongoDatabase';
import { openDatabase } from '../../../../imports/database/openDatabase';
import { failure } from '../../../support/failure';
import { startTestMongo } from '../../../support/startTestMongo';
import type { TestMongo } from '../../../support/startTestMongo';
import { itInSoak } from '../../../support/soak';

const SECRET = 'hunter2';

describe('MongoDatabase', () => {
  it('names the unreachable server without the password', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(
      openMongoDatabase(`mongodb://me:${SECRET}@127.0.0.1:${port}/app?serverSelectionTimeoutMS=100`),
    );
    expect(error).to.be.instanceOf(LLMConnectionError).and.to.have.property('retryable', true);
    expect((error as Error).message)
      .to.include(`127.0.0.1:${port}`)
      .and.not.include(SECRET);
  });

  it('rejects an invalid URL without repeating it', async () => {
    for (const url of [
      'localhost:27017',
      `http://me:${SECRET}@x/`,
      `mongodb://me:${SECRET}@/`,
      `mongodb://me:${SECRET}@x/?noSuchOption=1&noSuchOption=2`,
    ]) {
      const error = await failure(openMongoDatabase(url));
      expect(error, url).to.be.instanceOf(LLMInvalidRequestError).and.to.have.property('path', 'MONGO_URL');
      expect((error as Error).message).to.not.include(SECRET);
    }
  });

  describe('with a server', () => {
    let mongo: TestMongo;
    let database: DocumentDatabase;

    beforeEach(async () => {
      mongo = await startTestMongo();
      database = await openDatabase({
        MONGO_URL: `${mongo.url}${mongo.url.includes('?') ? '&' : '?'}serverSelectionTimeoutMS=3000`,
      });
    });
    afterEach(async () => {
      await database.close();
      await mongo.stop();
    });

    itInSoak('throws a typed error when the server is gone', async () => {
      const rows = database.collection('rows');
      await rows.insert({ _id: 'a' });
      await rows.remove({});
      if (!mongo.isStandIn) return;
      await mongo.stop();
      expect(await failure(rows.find({}))).to.be.instanceOf(StoreUnavailableError);
    });

    it('throws a typed error once closed, and can be closed twice', async () => {
      const rows = database.collection('rows');
      await database.close();
      await database.close();
      expect(await failure(rows.find({}))).to.be.instanceOf(LLMConnectionError);
    });
  });
});
