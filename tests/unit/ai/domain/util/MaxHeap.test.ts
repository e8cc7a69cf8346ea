import { expect } from 'chai';
import fc from 'fast-check';
import { MaxHeap } from '../../../../../imports/business/ai/domain/util/MaxHeap';

interface Weighed {
  at: number;
  weight: number;
}

describe('a heap whose order changes', () => {
  it('has the largest element first, whatever was added, changed and removed', () => {
    const step = fc.tuple(fc.constantFrom('add', 'change', 'remove'), fc.nat(), fc.nat(50));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new MaxHeap<Weighed>((left, right) => left.weight > right.weight);
        const elements: Weighed[] = [];
        for (const [kind, number, weight] of steps) {
          const element = elements[number % Math.max(elements.length, 1)];
          if (kind === 'add' || element === undefined) {
            const added = { at: 0, weight };
            elements.push(added);
            heap.add(added);
          } else if (kind === 'change') {
            element.weight = weight;
            heap.update(element);
          } else {
            elements.splice(elements.indexOf(element), 1);
            heap.remove(element);
          }
          const most = elements.length === 0 ? undefined : Math.max(...elements.map((each) => each.weight));
          expect(heap.first?.weight).to.equal(most);
        }
      }),
    );
  });

  it('compares few of many elements', () => {
    let comparisons = 0;
    const heap = new MaxHeap<Weighed>((left, right) => {
      comparisons += 1;
      return left.weight > right.weight;
    });
    const elements = Array.from({ length: 1_000 }, (_, weight) => ({ at: 0, weight }));
    for (const element of elements) heap.add(element);
    comparisons = 0;
    const [element] = elements;
    if (element === undefined) throw new Error('There are elements.');
    element.weight = 2_000;
    heap.update(element);
    element.weight = -1;
    heap.update(element);
    heap.remove(element);
    expect(comparisons).to.be.at.most(100);
  });
});
