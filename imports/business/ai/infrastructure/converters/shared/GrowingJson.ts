/**
 * Writes a list that grows from request to request, such as the messages of a conversation: an element that is at the
 * same place as before is not written again.
 */
export class GrowingJson {
  private elements: readonly object[] = [];
  private text = '';
  /** Where each element ends in the text. */
  private readonly ends: number[] = [];

  /**
   * @param elements are not changed later
   * @returns the list's JSON without brackets
   */
  write(elements: readonly object[]): string {
    const kept = this.countKept(elements);
    let text = kept === this.ends.length ? this.text : this.text.slice(0, this.ends[kept - 1] ?? 0);
    this.ends.length = kept;
    for (let index = kept; index < elements.length; index += 1) {
      text += index === 0 ? JSON.stringify(elements[index]) : `,${JSON.stringify(elements[index])}`;
      this.ends.push(text.length);
    }
    this.elements = elements;
    this.text = text;
    return text;
  }

  private countKept(elements: readonly object[]): number {
    const { length } = this.ends;
    let count = 0;
    while (count < length && count < elements.length && this.elements[count] === elements[count]) count += 1;
    return count;
  }
}
