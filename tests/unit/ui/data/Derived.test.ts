import { expect } from 'chai';
import { Derived } from '../../../../imports/ui/data/Derived';
import { Observable } from '../../../../imports/ui/data/Observable';

/** An observable that counts its subscribers. */
function countedSource(value: number) {
  const source = new Observable(value);
  const counted = {
    subscribers: 0,
    get: source.get,
    set: (next: number) => source.set(next),
    subscribe(listener: () => void) {
      counted.subscribers += 1;
      const unsubscribe = source.subscribe(listener);
      return () => {
        counted.subscribers -= 1;
        unsubscribe();
      };
    },
  };
  return counted;
}

describe('Derived', () => {
  it('returns the same object until a source has changed, with and without subscribers', () => {
    const source = countedSource(1);
    const derived = new Derived((read) => ({ double: read(source) * 2 }));
    const first = derived.get();
    expect(derived.get()).to.equal(first);
    const unsubscribe = derived.subscribe(() => undefined);
    expect(derived.get()).to.equal(first);
    source.set(2);
    expect(derived.get()).to.deep.equal({ double: 4 });
    unsubscribe();
    source.set(3);
    expect(derived.get()).to.deep.equal({ double: 6 });
  });

  it('subscribes to what the current value follows from, and to nothing once nobody subscribes to it', () => {
    const [choice, one, two] = [countedSource(1), countedSource(10), countedSource(20)];
    const derived = new Derived((read) => (read(choice) === 1 ? read(one) : read(two)));
    const seen: number[] = [];
    const unsubscribe = [derived.subscribe(() => seen.push(derived.get())), derived.subscribe(() => undefined)];
    two.set(21);
    choice.set(2);
    expect([choice, one, two].map(({ subscribers }) => subscribers)).to.deep.equal([1, 0, 1]);
    one.set(11);
    two.set(22);
    expect(seen).to.deep.equal([21, 22]);
    unsubscribe.forEach((each) => each());
    expect([choice, one, two].map(({ subscribers }) => subscribers)).to.deep.equal([0, 0, 0]);
  });

  it('has the value that a source gets when it is subscribed to', () => {
    const source = new Observable('peeked');
    const tracked = {
      get: source.get,
      subscribe(listener: () => void) {
        const unsubscribe = source.subscribe(listener);
        source.set('live');
        return unsubscribe;
      },
    };
    const derived = new Derived((read) => read(tracked));
    expect(derived.get()).to.equal('peeked');
    derived.subscribe(() => undefined)();
    expect(derived.get()).to.equal('live');
  });
});
