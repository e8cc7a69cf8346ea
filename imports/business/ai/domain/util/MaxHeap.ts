/** The first of many elements by an order that changes with them. Every operation takes logarithmic time. */
export interface HeapElement {
  /** Where it is in the heap, which sets it. */
  at: number;
}

export class MaxHeap<T extends HeapElement> {
  private readonly elements: T[] = [];
  private readonly comesBefore: (left: T, right: T) => boolean;

  constructor(comesBefore: (left: T, right: T) => boolean) {
    this.comesBefore = comesBefore;
  }

  get first(): T | undefined {
    return this.elements[0];
  }

  add(element: T): void {
    element.at = this.elements.length;
    this.elements.push(element);
    this.update(element);
  }

  /** Moves an element whose place in the order has changed. */
  update(element: T): void {
    while (this.swapsWith(element, this.elements[(element.at - 1) >> 1], 'up'));
    for (;;) {
      const [left, right] = [this.elements[2 * element.at + 1], this.elements[2 * element.at + 2]];
      const child = left !== undefined && right !== undefined && this.comesBefore(right, left) ? right : left;
      if (!this.swapsWith(element, child, 'down')) return;
    }
  }

  remove(element: T): void {
    const last = this.elements.pop();
    if (last === undefined || last === element) return;
    this.elements[element.at] = last;
    last.at = element.at;
    this.update(last);
  }

  private swapsWith(element: T, other: T | undefined, direction: 'up' | 'down'): boolean {
    if (other === undefined) return false;
    const isInOrder = direction === 'up' ? !this.comesBefore(element, other) : !this.comesBefore(other, element);
    if (isInOrder) return false;
    const { at } = element;
    this.elements[other.at] = element;
    this.elements[at] = other;
    element.at = other.at;
    other.at = at;
    return true;
  }
}
