/** Names of users are loaded once, those of a page together. */
import { expect } from 'chai';
import { UserNames } from '../../../../imports/ui/data/UserNames';
import type { UserName } from '../../../../imports/ui/data/UserNames';
import { nextTurn } from '../../../support/nextTurn';

describe('names of users', () => {
  it('are loaded together, each once, and 200 at a time', async () => {
    const loads: (readonly string[])[] = [];
    const names = new UserNames((userIds) => {
      loads.push(userIds);
      return Promise.resolve(
        userIds.filter((id) => id !== 'gone').map((userId) => ({ userId, name: `Name ${userId}` })),
      );
    });
    let changes = 0;
    names.subscribe(() => (changes += 1));
    names.ask(['ann', 'gone']);
    names.ask(['bob', 'ann', '', 'no id of a user '.repeat(20)]);
    await nextTurn();
    names.ask(['ann', 'bob', 'gone']);
    await nextTurn();
    expect(loads).to.deep.equal([['ann', 'gone', 'bob']]);
    expect([names.nameOf('ann'), names.nameOf('gone'), changes]).to.deep.equal(['Name ann', undefined, 1]);
    names.ask(Array.from({ length: 201 }, (_, index) => `user ${index}`));
    await nextTurn();
    expect(loads.slice(1).map(({ length }) => length)).to.deep.equal([200, 1]);
  });

  it('are asked for again after a failure', async () => {
    const answers: Promise<readonly UserName[]>[] = [Promise.reject(new Error('away'))];
    const names = new UserNames(() => answers.shift() ?? Promise.resolve([{ userId: 'ann', name: 'Ann' }]));
    names.ask(['ann']);
    await nextTurn();
    names.ask(['ann']);
    await nextTurn();
    expect(names.nameOf('ann')).to.equal('Ann');
  });
});
