// Slices and strings of D. The program tells what they hold, then it dies.
import core.stdc.stdio;
import core.stdc.stdlib;

struct Part { int number; string name; int[] counts; }

__gshared int[] dCounts;
__gshared string dText;
__gshared wstring dWide;
__gshared Part dPart;

void main()
{
    dCounts = [10, 20, 30];
    dText = "text of d";
    dWide = "wide"w;
    dPart = Part(7, "part", [1, 2]);
    printf("total\tdCounts\t3\n");
    printf("number\tdCounts[1]\t20\n");
    printf("text\tdText\ttext of d\n");
    printf("text\tdWide\twide\n");
    printf("text\tdPart.name\tpart\n");
    printf("number\tdPart.counts[1]\t2\n");
    fflush(stdout);
    abort();
}
