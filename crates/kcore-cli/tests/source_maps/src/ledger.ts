/** Keeps what is owed. */
export class Ledger {
  private entries: number[] = [];
  constructor(private readonly label: string) {}

  settle(depth: number): number {
    if (depth > 0) {
      const below = this.settle(depth - 1);
      this.entries.push(below);
      return below;
    }
    return finish(this.label, this.entries);
  }
}

function finish(label: string, entries: number[]): number {
  console.log(new Error(label).stack);
  if (process.argv[2] !== 'trace') {
    process.abort();
  }
  return entries.length;
}
