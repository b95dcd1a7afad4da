"""Words that say nothing about a topic, by language: articles, pronouns, prepositions, conjunctions, auxiliaries."""

from __future__ import annotations

_LISTS = {
    "dutch": """
        aan al alle alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er
        ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jouw
        jullie kan kon konden kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat
        onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waren was wat we wel werd
        werden wezen wie wij wil willen word worden wordt zal ze zelf zich zij zijn zo zonder zou zouden zulke""",
    "french": """
        ai aie ainsi alors as au aucun aucune aussi autre autres aux avaient avais avait avant avec avez aviez avions
        avoir avons ayant bien car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment
        contre dans de depuis des dont du elle elles en encore entre es est et eu eux fait fois font furent fut hors
        ici il ils je jusque la le les leur leurs lors lorsque lui ma mais me mes moi moins mon même mêmes ne ni nos
        notre nous on ont or ou où par parce pas peu peut plus pour pourquoi puis qu quand que quel quelle quelles
        quels qui quoi sa sans se sera serait seront ses si soi soient sois soit sommes son sont sous suis sur ta te
        tes toi ton tous tout toute toutes très tu un une vers voici voilà vos votre vous étaient était étant été être
        à""",
    "german": """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus bei
        beim bereits bin bis bist da dabei dadurch dafür damit danach dann daran darauf daraus das dass dazu dein
        deine deinem deinen deiner dem den denen denn der deren des deshalb dessen die dies diese diesem diesen dieser
        dieses doch dort du durch ein eine einem einen einer eines einige er es etwa etwas euch euer eure für gegen
        habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins
        ist ja jede jedem jeden jeder jedes jedoch jene jetzt kann kein keine keinem keinen keiner können könnte man
        mehr mein meine meinem meinen meiner mich mir mit muss musste müssen nach nicht nichts noch nun nur ob oder
        ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so sollte solche soll sollen sondern
        sonst sowie um und uns unser unsere unter vom von vor war waren warum was wegen weil weiter welche welchem
        welchen welcher wenn wer werde werden wie wieder will wir wird wo wollen wurde wurden während würde würden zu
        zum zur zwar zwischen über""",
    "italian": """
        abbia abbiamo ad agli ai al alla alle allo altra altre altri altro anche ancora avere aveva avevano avevo
        avrebbe avrà che chi ci coi col come con contro cosa così cui da dagli dai dal dalla dalle dallo degli dei del
        della delle dello di dopo dove ebbe ed era erano essere fa fare fin fino fosse fra fu furono gli ha hai hanno
        ho il in io la le lei li lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello
        noi non nostra nostre nostri nostro ogni ora per perché però più poi quale quali quando quanto quella quelle
        quelli quello questa queste questi questo qui sarebbe sarà se sei sempre senza si sia siamo siano sono sta
        stata state stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu tua tue tuo tuoi tutta
        tutte tutti tutto un una uno vi voi vostra vostre vostri vostro è""",
    "portuguese": """
        ainda ao aos apenas aquela aquelas aquele aqueles aquilo as assim até cada com como contra da das de dela
        delas dele deles depois desde do dos e ela elas ele eles em entre era eram essa essas esse esses esta estas
        estava estavam este estes estou está estão eu foi foram for fosse há isso isto já lhe lhes mais mas me mesmo
        meu meus minha minhas muito na nas nem no nos nossa nossas nosso nossos num numa não nós o onde os ou outra
        outras outro outros para pela pelas pelo pelos pode por porque quais qual quando que quem se seja sem sempre
        ser será seu seus sob sobre sua suas são só também te tem tendo tenho ter teu teus teve tinha tinham toda
        todas todo todos tu tua tuas tudo têm um uma umas uns você vocês vos à às é""",
    "spanish": """
        al algo algunas alguno algunos ante antes aquel aquella aquellas aquellos aquí así aunque bajo bien cada como
        con contra cual cuales cuando de del desde donde dos durante el ella ellas ellos en entre era eran eres es esa
        esas ese eso esos esta estaba estaban estado estamos estar estas este esto estos estoy está están fue fueron
        ha haber había habían habrá hace hacer hacia han hasta hay he incluso la las le les lo los luego me mi mientras
        mis mucho muchos muy más nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros
        para pero poco por porque pues que quien quienes qué se sea sean según ser será si sido siempre sin sino sobre
        solo son su sus suya suyo sí también tanto te tenemos tener tenía tengo ti tiene tienen toda todas todo todos
        tras tu tus tú un una unas uno unos usted ustedes ya yo él""",
}
LANGUAGES = ("english", *_LISTS)


def of_language(language: str) -> list[str]:
    """The stop words of a language, in alphabetical order.

    Examples
    --------
    >>> from arbora.insight.stop_words import of_language
    >>> of_language("german")[:3]
    ['ab', 'aber', 'alle']
    """
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return sorted(ENGLISH_STOP_WORDS)
    return sorted(set(_LISTS[language].split()))
